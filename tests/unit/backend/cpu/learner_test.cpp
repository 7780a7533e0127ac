// Targets by hand, and what learn() and train() do around a gradient: draw, optimise, follow with the target.
#include "backend/cpu/learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace warptape::cpu {

namespace {

// One market column, the three portfolio numbers, layers of one unit, four actions: a mean of four is exact.
constexpr DuelingShape kShape = {4, 1, 1, 1, 1, 4};
constexpr std::size_t kColumn = 0, kEquity = 1;  // inputs

/// A network whose Q of action a is x[input] + q[a] for x[input] >= 0. The mean of `q` must be 0.
std::vector<float> reading_net(std::size_t input, const std::vector<float>& q, float slope = 1) {
  const DuelingNet net(kShape);
  std::vector<float> w(net.parameter_count());
  const DenseLayer& first = net.layers()[kShared0];
  w[first.weight + input * static_cast<std::size_t>(first.stride)] = slope;
  w[net.layers()[kShared1].weight] = 1;
  w[net.layers()[kValueFc].weight] = 1;
  w[net.layers()[kValueOut].weight] = 1;
  std::copy(q.begin(), q.end(), w.begin() + static_cast<std::ptrdiff_t>(net.layers()[kAdvantageOut].bias));
  return w;
}

/// A network whose Q is the same in every state: the value's bias raises q.
std::vector<float> constant_net(float value, const std::vector<float>& q) {
  std::vector<float> w = reading_net(kColumn, q, 0);
  w[DuelingNet(kShape).layers()[kValueOut].bias] = value;
  return w;
}

Experience experience(int action, float reward, bool terminal, bool truncated) {
  Experience e{};
  e.action_flags = pack_action(action, terminal, truncated);
  e.reward = reward;
  return e;
}

class LearnerTargets : public ::testing::Test {
 protected:
  /// The target of one experience, told from the loss: with a Huber corner out of reach it is half the squared error.
  double target_of(const Experience& e, const std::vector<float>& online, const std::vector<float>& target, double q) {
    LearnConfig config;
    config.gamma = 0.99;
    config.huber_delta = 1e6;
    Learner learner(config, kShape, {column_.data(), 1}, 1);
    std::vector<float> gradient;
    const LearnStats stats = learner.gradient(pool_, {e}, online, target, gradient);
    EXPECT_FLOAT_EQ(static_cast<float>(stats.q), static_cast<float>(q));
    // The gradient of the value's bias is the error itself, so its sign tells the side.
    const DuelingNet net(kShape);
    const float slope = gradient[net.layers()[kValueOut].bias];
    return q - std::copysign(std::sqrt(2 * stats.loss), slope);
  }

  ThreadPool pool_{1};
  std::vector<float> column_ = {1, 4, 16};  // the market: a row a bar
};

const std::vector<float> kPlain = {3, -1, -1, -1};  // the online network likes action 0

TEST_F(LearnerTargets, LastBarOfTheDataBootstraps) {
  // docs/domain.md: gamma 0.99, reward 0.01, max target Q 2 gives 1.99.
  const auto online = constant_net(0, kPlain), target = constant_net(-1, kPlain);
  EXPECT_NEAR(target_of(experience(0, 0.01f, false, true), online, target, 3), 1.99, 1e-6);
  EXPECT_NEAR(target_of(experience(0, 0.01f, false, false), online, target, 3), 1.99, 1e-6);
}

TEST_F(LearnerTargets, RuinIsItsRewardAlone) {
  const auto online = constant_net(0, kPlain), target = constant_net(-1, kPlain);
  EXPECT_NEAR(target_of(experience(0, -1, true, false), online, target, 3), -1, 1e-6);
  EXPECT_NEAR(target_of(experience(2, 0.01f, true, false), online, target, -1), 0.01, 1e-6);
}

TEST_F(LearnerTargets, TruncatedBootstrapsFromTheTrueNextState) {
  Experience e = experience(1, 0.5f, false, true);
  e.bar = 0;
  e.now[0] = 64;
  e.next[0] = 1.5f;
  const auto online = constant_net(0, kPlain);
  // By the portfolio numbers of the true next state: 0.5 + 0.99·(1.5 + 3).
  EXPECT_NEAR(target_of(e, online, reading_net(kEquity, kPlain), -1), 4.955, 1e-6);
  // By the next bar's market row: 0.5 + 0.99·(4 + 3).
  EXPECT_NEAR(target_of(e, online, reading_net(kColumn, kPlain), -1), 7.43, 1e-6);
}

TEST_F(LearnerTargets, TheStateIsTheBarsOwn) {
  Experience e = experience(0, 0, true, false);
  e.bar = 1;
  e.now[0] = 64;
  e.next[0] = 1.5f;
  EXPECT_NEAR(target_of(e, reading_net(kColumn, kPlain), constant_net(0, kPlain), 7), 0, 1e-5);  // column 4
  EXPECT_NEAR(target_of(e, reading_net(kEquity, kPlain), constant_net(0, kPlain), 67), 0, 1e-5);
}

TEST_F(LearnerTargets, OnlineChoosesAndTargetEvaluates) {
  const auto online = constant_net(0, {-1, 3, -1, -1});
  const auto target = constant_net(2, {0, -1.5f, 3.5f, -2});  // Q 2, 0.5, 5.5, 0
  EXPECT_NEAR(target_of(experience(0, 1, false, false), online, target, -1), 1 + 0.99 * 0.5, 1e-6);
}

TEST_F(LearnerTargets, TiesGoToTheLowestIndex) {
  const auto online = constant_net(0, {-2, 1, 1, 0});
  const auto target = constant_net(2, {0, -1.5f, 3.5f, -2});
  EXPECT_NEAR(target_of(experience(3, 1, false, false), online, target, 0), 1 + 0.99 * 0.5, 1e-6);
}

TEST_F(LearnerTargets, ARowOfZerosIsWorthItsReward) {
  Experience e = experience(0, 0, true, false);
  e.bar = -1;
  EXPECT_NEAR(target_of(e, reading_net(kColumn, kPlain), constant_net(2, kPlain), 3), 0, 1e-5);
}

/// A learner over a replay of one row that is not terminal, so that every batch is that row.
class LearnerOneRow : public ::testing::Test {
 protected:
  LearnerOneRow() {
    Experience e = experience(1, 0.25f, false, false);
    e.now[0] = 1.25f;
    e.next[0] = 0.75f;
    replay_.insert({e});
    config_.batch = 3;
    config_.gamma = 0.99;
    config_.huber_delta = 1;
    config_.clip_norm = 1e6;
    config_.optimiser = "adam";
  }

  LearnStats learn(std::int64_t updates) {
    Learner learner(config_, kShape, {column_.data(), 1}, 1);
    return learner.learn(pool_, replay_, {updates, 0.01}, online_, target_);
  }

  ThreadPool pool_{1};
  Replay replay_{1, 1};
  LearnConfig config_;
  std::vector<float> column_ = {1, 4};
  std::vector<float> online_ = reading_net(kEquity, {3, -1, -1, -1});
  std::vector<float> target_ = reading_net(kColumn, {0, 2, -1, -1});
};

TEST_F(LearnerOneRow, StatisticsAreMeansOverUpdates) {
  const LearnStats stats = learn(1);
  // Q = 1.25 − 1; next online 0.75 + (3, −1, −1, −1) chooses 0; target 4 + 0; error 0.25 − (0.25 + 0.99·4) = −3.96.
  EXPECT_EQ(stats.updates, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(stats.q), 0.25f);
  EXPECT_FLOAT_EQ(static_cast<float>(stats.abs_q), 0.25f);
  EXPECT_FLOAT_EQ(static_cast<float>(stats.loss), 3.46f);
  EXPECT_GT(stats.gradient_norm, 1);  // dV alone is −1
  const LearnStats none = learn(0);
  EXPECT_EQ(none.updates, 0);
  EXPECT_EQ(none.loss, 0);
  EXPECT_EQ(none.gradient_norm, 0);
}

TEST_F(LearnerOneRow, AnUpdateMovesEachWeightByTheLearningRateAgainstItsGradient) {
  config_.target_sync = "polyak";
  config_.tau = 0.25;
  const std::vector<float> before = online_, target_before = target_;
  learn(1);
  const DuelingNet net(kShape);
  const std::size_t value_bias = net.layers()[kValueOut].bias;
  // The first step of Adam has the size of the learning rate; Q is too low, so the value's bias rises.
  EXPECT_NEAR(online_[value_bias], before[value_bias] + 0.01f, 1e-7);
  for (std::size_t i = 0; i < online_.size(); ++i) {
    EXPECT_NEAR(target_[i], 0.75f * target_before[i] + 0.25f * online_[i], 1e-6) << i;
  }
}

TEST_F(LearnerOneRow, HardSyncCopiesEveryKUpdates) {
  config_.target_sync = "hard";
  config_.target_every = 3;
  const std::vector<float> first_target = target_;
  Learner learner(config_, kShape, {column_.data(), 1}, 1);
  std::vector<float> copied = target_;
  for (int update = 1; update <= 7; ++update) {
    learner.learn(pool_, replay_, {1, 0.01}, online_, target_);
    if (update % 3 == 0) copied = online_;
    EXPECT_EQ(target_, copied) << update;
  }
  EXPECT_NE(target_, first_target);
  EXPECT_NE(target_, online_);
}

TEST_F(LearnerOneRow, AdamwDecaysAndAdamDoesNot) {
  // A weight without gradient: the shared layer's to an input that is 0.
  const DuelingNet net(kShape);
  const DenseLayer& first = net.layers()[kShared0];
  const std::size_t idle = first.weight + 3 * static_cast<std::size_t>(first.stride);
  online_[idle] = 2;
  std::vector<float> kept = online_;
  learn(1);
  EXPECT_EQ(online_[idle], 2);
  online_ = kept;
  config_.optimiser = "adamw";
  config_.weight_decay = 0.5;
  learn(1);
  EXPECT_NEAR(online_[idle], 2 * (1 - 0.01 * 0.5), 1e-6);
}

TEST_F(LearnerOneRow, ClippingBoundsTheGradientNotTheReportedNorm) {
  const std::vector<float> online = online_, target = target_;
  const double norm = learn(1).gradient_norm;
  config_.epsilon = 1e3;  // nearly a gradient step: 0.01·gradient/(|gradient| + 1000)
  const std::size_t value_bias = DuelingNet(kShape).layers()[kValueOut].bias;
  for (const double part : {0.25, 0.8, 1.25}) {
    online_ = online;
    target_ = target;
    config_.clip_norm = part * norm;
    EXPECT_DOUBLE_EQ(learn(1).gradient_norm, norm);
    const double gradient = std::min(part, 1.0);  // of the value's bias, −1 before clipping
    EXPECT_NEAR(online_[value_bias], 0.01 * gradient / (1000 + gradient), 1e-10) << part;
  }
}

TEST(LearnerDraws, TheRowsOfItsSeedAndUpdate) {
  // Row i has Q = i. The rows are those that tests/reference/philox.py gives for updates 0 and 5 (see ring_test.cpp).
  Replay replay(1, 64);
  for (int i = 0; i < 37; ++i) {
    Experience e = experience(0, 0, true, false);
    e.now[0] = static_cast<float>(i);
    replay.insert({e});
  }
  LearnConfig config;
  config.batch = 8;
  const std::vector<float> column = {0, 0};
  Learner learner(config, kShape, {column.data(), 1}, 0x0123456789ABCDEF);
  ThreadPool pool(1);
  std::vector<float> online = reading_net(kEquity, {0, 0, 0, 0}), target = online;
  const auto next_q = [&] { return learner.learn(pool, replay, {1, 1e-30}, online, target).q; };
  EXPECT_EQ(next_q(), (8 + 13 + 9 + 36 + 9 + 3 + 20 + 12) / 8.0);
  for (int update = 1; update < 5; ++update) next_q();
  EXPECT_EQ(next_q(), (3 + 17 + 26 + 11 + 32 + 2 + 0 + 15) / 8.0);
}

class CuriosityTraining : public ::testing::Test {
 protected:
  CuriosityTraining() {
    for (int i = 0; i <= 37; ++i) column_.push_back(static_cast<float>(i));
    tables_.count = 1;
    config_.batch = 8;
    config_.batches = 1;
    config_.learning_rate = 1e-30;
  }
  Replay replay(bool zeros) const {
    Replay r(1, 64);
    for (int i = 0; i < 37; ++i) {
      Experience e = experience(0, 0, false, false);
      e.bar = zeros ? -1 : i;
      r.insert({e});
    }
    return r;
  }

  static constexpr CuriosityShape kOne = {4, 2, 1};
  ThreadPool pool_{1};
  std::vector<float> column_, weights_ = std::vector<float>(CuriosityNet(kOne).parameter_count());
  ActionTables tables_{};
  CuriosityConfig config_;
};

TEST_F(CuriosityTraining, LearnsFromTheRowsOfItsOwnStream) {
  CuriosityLearner learner(config_, kOne, {column_.data(), 1}, tables_, 0x0123456789ABCDEF);
  // All weights 0: the error of row i is the square of the next bar's column, i + 1.
  const double loss = learner.train(pool_, replay(false), weights_).loss;
  double expected = 0;
  for (const int row : {23, 1, 9, 21, 31, 33, 14, 27}) expected += (row + 1) * (row + 1) / 8.0;
  EXPECT_EQ(loss, expected);
  EXPECT_EQ(learner.optimiser().steps(), 1);
}

TEST_F(CuriosityTraining, RowsOfZerosTeachNothing) {
  config_.batches = 3;
  CuriosityLearner learner(config_, kOne, {column_.data(), 1}, tables_, 1);
  EXPECT_EQ(learner.train(pool_, replay(true), weights_).loss, 0);
  EXPECT_EQ(learner.optimiser().steps(), 0);
}

TEST_F(CuriosityTraining, LossFallsOnAWorldThatCanBeLearned) {
  std::fill(column_.begin(), column_.end(), 0.75f);
  config_.batches = 200;
  config_.learning_rate = 0.01;
  CuriosityLearner learner(config_, kOne, {column_.data(), 1}, tables_, 1);
  const Replay rows = replay(false);
  learner.train(pool_, rows, weights_);
  EXPECT_LT(learner.train(pool_, rows, weights_).loss, 1e-4);  // from 0.5625
}

}  // namespace

}  // namespace warptape::cpu
