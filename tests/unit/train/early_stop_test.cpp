// When train.early_stop ends a training, and that a resumed one ends there too.
#include "train/early_stop.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/train/train_worlds.h"

namespace warptape {
namespace {

TEST(EarlyStop, CountsEvaluationsSinceTheBest) {
  EXPECT_EQ(evaluations_since_best(9, 0, 10), 0);  // none yet
  EXPECT_EQ(evaluations_since_best(10, 10, 10), 0);
  EXPECT_EQ(evaluations_since_best(19, 10, 10), 0);
  EXPECT_EQ(evaluations_since_best(20, 10, 10), 1);
  EXPECT_EQ(evaluations_since_best(47, 10, 10), 3);  // 20, 30, 40
  EXPECT_EQ(evaluations_since_best(7, 4, 1), 3);
}

TEST(EarlyStop, EndsAfterSoManyButNotTheLastRound) {
  TrainConfig c;
  c.rounds = 100;
  c.evaluate_every = 10;
  EXPECT_FALSE(stops_early(c, 90, 10));  // off
  c.early_stop = 3;
  EXPECT_FALSE(stops_early(c, 30, 10));
  EXPECT_TRUE(stops_early(c, 40, 10));
  EXPECT_FALSE(stops_early(c, 40, 20));
  EXPECT_TRUE(stops_early(c, 90, 60));
  EXPECT_FALSE(stops_early(c, 100, 60));
}

class TrainerEarlyStop : public train_test::TrainTest {
 protected:
  TrainerEarlyStop() {
    config_.train.rounds = 20;
    config_.train.evaluate_every = 2;
    config_.train.checkpoint_every = 100;
    config_.train.early_stop = 2;
    // The policy stays what it was, so the first evaluation, in round 2, is the best: 4 and 6 make two without.
    config_.learn.learning_rate = config_.learn.learning_rate_end = 1e-30;
  }
  TrainOptions resumed(const std::string& run) const {
    TrainOptions o = options(run);
    o.resume = true;
    return o;
  }
};

TEST_F(TrainerEarlyStop, EndsWithACheckpointAndSaysWhy) {
  const TrainResult result = run("run");
  EXPECT_TRUE(result.stopped_early);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.rounds, 6);
  EXPECT_EQ(result.rounds_here, 6);
  EXPECT_EQ(result.best_round, 2);
  EXPECT_EQ(info("run/last").at("round"), 6);
  const auto lines = log("run");
  ASSERT_EQ(lines.size(), 6u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_FALSE(lines[i].contains("stop"));
  const std::string why = lines[5].at("stop");
  EXPECT_NE(why.find("train.early_stop: 2 evaluations"), std::string::npos) << why;
}

TEST_F(TrainerEarlyStop, OfAResumedRunIsInTheSameRound) {
  run("whole");
  for (const int first : {1, 3, 5}) {
    const std::string name = "cut_" + std::to_string(first);
    run_rounds(options(name), first);
    EXPECT_TRUE(train(resumed(name), nullptr, nullptr).stopped_early);
    for (const std::string file : {"/log.jsonl", "/last/checkpoint.json", "/last/state.safetensors"}) {
      EXPECT_TRUE(content("whole" + file) == content(name + file)) << name << file;
    }
  }
}

TEST_F(TrainerEarlyStop, ResumingAfterItDoesNothing) {
  run("run");
  const std::string log = content("run/log.jsonl"), state = content("run/last/state.safetensors");
  const auto events = testing::names_in(folder_ / "run/tensorboard");
  const TrainResult again = train(resumed("run"), nullptr, nullptr);
  EXPECT_TRUE(again.stopped_early);
  EXPECT_EQ(again.rounds, 6);
  EXPECT_EQ(again.rounds_here, 0);
  EXPECT_EQ(again.best_round, 2);
  EXPECT_TRUE(content("run/log.jsonl") == log);
  EXPECT_TRUE(content("run/last/state.safetensors") == state);
  EXPECT_EQ(testing::names_in(folder_ / "run/tensorboard"), events);
}

TEST_F(TrainerEarlyStop, WaitsWhileTheReturnImproves) {
  config_.learn.learning_rate = config_.learn.learning_rate_end = 0.01;
  config_.train.evaluate_every = 1;
  config_.train.early_stop = 3;
  const TrainResult result = run("run");
  // By the log: the first round that ends three without a new best, or the last.
  double best = -1e300;
  std::int64_t since = 0, ends = config_.train.rounds;
  for (const auto& line : log("run")) {
    const double value = line.at("validation_return");
    since = value > best ? 0 : since + 1;
    best = std::max(best, value);
    if (since == 3) ends = std::min<std::int64_t>(ends, line.at("round"));
  }
  EXPECT_EQ(result.rounds, ends);
  EXPECT_EQ(result.best_return, best);
}

class TrainerTimeLimit : public train_test::TrainTest {};

TEST_F(TrainerTimeLimit, EndsAfterTheRoundThatPassesItWithACheckpointThatResumeFinishes) {
  run("whole");
  TrainOptions o = options("cut");
  o.time_limit_s = 1e-9;  // every round passes it
  for (std::int64_t round = 1; round <= 5; ++round) {
    const TrainResult result = train(o, nullptr, nullptr);
    EXPECT_TRUE(result.out_of_time);
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.rounds, round);
    EXPECT_EQ(result.rounds_here, 1);
    EXPECT_EQ(info("cut/last").at("round"), round);
    o.resume = true;
  }
  const TrainResult last = train(o, nullptr, nullptr);
  EXPECT_EQ(last.rounds, 6);
  EXPECT_FALSE(last.out_of_time);  // nothing is left to go on with
  for (const std::string file : {"/log.jsonl", "/last/checkpoint.json", "/last/weights.safetensors", "/config.toml"}) {
    EXPECT_TRUE(content("whole" + file) == content("cut" + file)) << file;
  }
}

TEST_F(TrainerTimeLimit, ThatIsNotReachedChangesNothing) {
  TrainOptions o = options("run");
  o.time_limit_s = 1e6;
  const TrainResult result = train(
      o, [](const RoundReport& r) { EXPECT_LE(r.seconds_left, 1e6); }, nullptr);
  EXPECT_EQ(result.rounds, 6);
  EXPECT_FALSE(result.out_of_time);
}

}  // namespace
}  // namespace warptape
