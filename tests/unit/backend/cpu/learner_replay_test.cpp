// What the learner makes of returns of several steps and of priorities, by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/learner.h"

namespace warptape::cpu {

namespace {

// One market column, the three portfolio numbers, layers of one unit, four actions: a mean of four is exact.
constexpr DuelingShape kShape = {4, 1, 1, 1, 1, 4};

/// A network whose Q of action a is slope·column + value + q[a]. The mean of `q` must be 0.
std::vector<float> column_net(float slope, float value, const std::vector<float>& q) {
  const DuelingNet net(kShape);
  std::vector<float> w(net.parameter_count());
  w[net.layers()[kShared0].weight] = slope;
  w[net.layers()[kShared1].weight] = 1;
  w[net.layers()[kValueFc].weight] = 1;
  w[net.layers()[kValueOut].weight] = 1;
  w[net.layers()[kValueOut].bias] = value;
  std::copy(q.begin(), q.end(), w.begin() + static_cast<std::ptrdiff_t>(net.layers()[kAdvantageOut].bias));
  return w;
}

/// A world that goes to and fro between two states, A with column 1 and B with column 4: A pays 1, B pays 2.
class TwoStates : public ::testing::Test {
 protected:
  Experience row(bool b, u32 flags = 0) const {
    Experience e{};
    e.bar = b ? 1 : 0;
    e.reward = b ? 2 : 1;
    e.action_flags = pack_action(1, false, false) | flags;
    return e;
  }

  /// The target of the oldest row of such a ring; it must be the only one that may be drawn.
  double target(const std::vector<Experience>& rows, int n) const {
    ReplayRules rules;
    rules.n_step = n;
    Replay replay(1, static_cast<std::int64_t>(rows.size()), rules);
    replay.insert(rows);
    EXPECT_EQ(replay.drawable(), 1);
    LearnConfig config;
    config.batch = 3;
    config.gamma = 0.5;
    config.huber_delta = 1e6;  // the loss is half the squared error
    const std::vector<float> column = {1, 4, 1};
    Learner learner(config, kShape, {column.data(), 1}, 1);
    ThreadPool pool(1);
    // Online Q is −1 for what was done, and action 0 is its choice; the target net says column + 3 of it.
    std::vector<float> online = column_net(0, 0, {3, -1, -1, -1}), follower = column_net(1, 0, {3, -1, -1, -1});
    const LearnStats stats = learner.learn(pool, replay, {1, 1e-30}, online, follower);
    EXPECT_EQ(stats.q, -1);
    return std::sqrt(2 * stats.loss) - 1;  // all targets lie above
  }

  /// n rows from A or B on.
  double target_of(bool from_b, int n) const {
    std::vector<Experience> rows;
    for (int i = 0; i < n; ++i) rows.push_back(row(from_b != (i % 2 == 1)));
    return target(rows, n);
  }
};

constexpr double kTolerance = 1e-6;  // float32 numbers of order 4, and the root of one

TEST_F(TwoStates, TargetsOfOneTwoAndFiveSteps) {
  // Q(A) = 1 + 3, Q(B) = 4 + 3.
  EXPECT_NEAR(target_of(false, 1), 1 + 0.5 * 7, kTolerance);
  EXPECT_NEAR(target_of(true, 1), 2 + 0.5 * 4, kTolerance);
  EXPECT_NEAR(target_of(false, 2), 1 + 0.5 * 2 + 0.25 * 4, kTolerance);
  EXPECT_NEAR(target_of(true, 2), 2 + 0.5 * 1 + 0.25 * 7, kTolerance);
  EXPECT_NEAR(target_of(false, 5), 1 + 1 + 0.25 + 0.25 + 0.0625 + 7 / 32.0, kTolerance);
  EXPECT_NEAR(target_of(true, 5), 2 + 0.5 + 0.5 + 0.125 + 0.125 + 4 / 32.0, kTolerance);
}

TEST_F(TwoStates, TerminalEndsTheSumAndTruncatedBootstraps) {
  // The row that ends is drawable by itself, so n rows with the end last leave the first and the last: one row is
  // asked for at a time.
  EXPECT_NEAR(target({row(false, kTerminalFlag)}, 5), 1, kTolerance);
  EXPECT_NEAR(target({row(false, kTruncatedFlag)}, 5), 1 + 0.5 * 7, kTolerance);
  EXPECT_NEAR(target({row(true, kCutFlag)}, 5), 2 + 0.5 * 4, kTolerance);
}

TEST_F(TwoStates, AnEndInsideTheReturn) {
  const std::vector<float> column = {1, 4, 1};
  LearnConfig config;
  config.gamma = 0.5;
  config.huber_delta = 1e6;
  Learner learner(config, kShape, {column.data(), 1}, 1);
  ThreadPool pool(1);
  const auto online = column_net(0, 0, {3, -1, -1, -1}), follower = column_net(1, 0, {3, -1, -1, -1});
  const auto target = [&](u32 flags) {
    ReplayRules rules;
    rules.n_step = 5;
    Replay replay(1, 3, rules);
    replay.insert({row(false), row(true), row(false, flags)});
    std::vector<float> gradient;
    return std::sqrt(2 * learner.gradient(pool, {replay.transition(0, 0.5f)}, online, follower, gradient).loss) - 1;
  };
  EXPECT_NEAR(target(kTerminalFlag), 1 + 1 + 0.25, kTolerance);
  EXPECT_NEAR(target(kTruncatedFlag), 1 + 1 + 0.25 + 0.125 * 7, kTolerance);
  EXPECT_NEAR(target(kCutFlag), 1 + 1 + 0.25 + 0.125 * 7, kTolerance);
}

/// Four rows that end, of rewards 1, 2, 4 and 9 where Q is 0: their errors.
class PrioritisedLearning : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSeed = 4;
  static constexpr std::size_t kBatch = 150;  // three tiles

  PrioritisedLearning() {
    rules_.prioritised = true;
    rules_.alpha = 1;
    rules_.epsilon = 0.5f;
    replay_ = std::make_unique<Replay>(1, 4, rules_);
    for (const float reward : {1.0f, 2.0f, 4.0f, 9.0f}) {
      Experience e{};
      e.reward = reward;
      e.action_flags = pack_action(2, true, false);
      replay_->insert({e});
    }
    config_.batch = kBatch;
    config_.huber_delta = 1e6;
  }

  LearnStats learn(std::int64_t updates, double beta, double learning_rate = 1e-30) {
    Learner learner(config_, kShape, {column_.data(), 1}, kSeed);
    return learner.learn(pool_, *replay_, {updates, learning_rate, beta}, online_, target_);
  }

  ThreadPool pool_{2};
  ReplayRules rules_;
  std::unique_ptr<Replay> replay_;
  LearnConfig config_;
  std::vector<float> column_ = {0, 0};
  std::vector<float> online_ = column_net(0, 0, {0, 0, 0, 0}), target_ = online_;
};

TEST_F(PrioritisedLearning, GivesDrawnRowsTheirErrors) {
  // All four masses are 1, so that each takes a quarter of the batch.
  learn(1, 0.5);
  EXPECT_EQ(replay_->masses(), (std::vector<float>{1.5f, 2.5f, 4.5f, 9.5f}));
  EXPECT_EQ(replay_->largest_mass(), 9.5f);
}

TEST_F(PrioritisedLearning, WeighsTheLossOfWhatItDraws) {
  // With all masses the same, all weights are 1: the mean of ½e². Quarters of 150 places: 37.5 each, so the draws
  // that straddle two quarters decide by their random numbers.
  std::vector<std::int64_t> rows(kBatch);
  const double losses[] = {0.5, 2, 8, 40.5};
  const auto expected = [&](std::uint64_t update, const std::vector<double>& weights) {
    replay_->draw(kSeed, update, rows);
    double sum = 0;
    for (const std::int64_t row : rows) sum += weights[static_cast<std::size_t>(row)] * losses[row];
    return sum / kBatch;
  };
  const double even = expected(0, {1, 1, 1, 1});
  EXPECT_NEAR(learn(1, 0.7).loss, even, even * 1e-6);
  // Now of masses 1.5, 2.5, 4.5, 9.5; the learner is a new one, so it draws for update 0 again.
  const double weighted =
      expected(0, {1, std::pow(1.5 / 2.5, 0.7), std::pow(1.5 / 4.5, 0.7), std::pow(1.5 / 9.5, 0.7)});
  EXPECT_NEAR(learn(1, 0.7).loss, weighted, weighted * 1e-6);
  const double full = expected(0, {1, 1.5 / 2.5, 1.5 / 4.5, 1.5 / 9.5});
  EXPECT_NEAR(learn(1, 1).loss, full, full * 1e-6);
  // β = 1 undoes the draw: up to the factor of the largest weight, the mean over all rows. 150 places for four masses
  // of 18 in all leave each count within two of its share.
  EXPECT_NEAR(full * (18.0 / 4) / 1.5, (0.5 + 2 + 8 + 40.5) / 4, 2 / 150.0 * (18.0 / 4) / 1.5 * 40.5);
}

TEST_F(PrioritisedLearning, DoesNotTakeErrorsThatAreNotFinite) {
  online_[DuelingNet(kShape).layers()[kValueOut].bias] = std::nanf("");
  EXPECT_TRUE(std::isnan(learn(1, 0.5).loss));  // which ends a training
  EXPECT_EQ(replay_->masses(), std::vector<float>(4, 1));
}

TEST_F(PrioritisedLearning, DrawsAnewByTheMassesOfTheLastUpdate) {
  // One learner, two updates with no change of the weights: the second draw is by the errors of the first.
  learn(1, 1);
  std::vector<std::int64_t> rows(kBatch);
  replay_->draw(kSeed, 1, rows);
  double sum = 0;
  const double parts[] = {0.5, 2 * 1.5 / 2.5, 8 * 1.5 / 4.5, 40.5 * 1.5 / 9.5};
  for (const std::int64_t row : rows) sum += parts[row];
  Replay fresh(1, 4, rules_);
  fresh.restore(replay_->ring(), replay_->rows(), std::vector<float>(4, 1), 1);
  *replay_ = fresh;
  replay_->draw(kSeed, 0, rows);
  double first = 0;
  for (const std::int64_t row : rows) first += (std::vector<double>{0.5, 2, 8, 40.5})[static_cast<std::size_t>(row)];
  const double mean = (first + sum) / kBatch / 2;
  EXPECT_NEAR(learn(2, 1).loss, mean, mean * 1e-6);
}

}  // namespace

}  // namespace warptape::cpu
