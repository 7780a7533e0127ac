// `train`, interrupted and resumed, and `backtest` of what it made.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

using cli_test::expect_contains;
using cli_test::Outcome;
using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class CliTrain : public ::testing::Test {
 protected:
  void SetUp() override {
    desk.put("bars.csv", cli_test::bars_csv(cli_test::kBars));
    desk.put("tiny.toml", cli_test::kTinyConfig);
  }

  std::vector<std::string> train_words(const std::string& out, const std::vector<std::string>& settings = {}) const {
    std::vector<std::string> words = {"train", "--data", "bars.csv", "--config", "tiny.toml", "--out", out};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return words;
  }

  cli_test::Desk desk;
};

TEST_F(CliTrain, WritesTheRunAndIsQuietInAPipe) {
  const Outcome outcome = desk.run_well(train_words("run", {"train.rounds=3"}));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(lines_of(outcome.out).size(), 1u);
  expect_contains(outcome.out, {"3 rounds done", "best validation return", "run/best"});

  EXPECT_EQ(testing::names_in(desk.path() / "run"),
            (std::vector<std::string>{"best", "config.toml", "last", "log.jsonl", "previous", "tensorboard"}));
  for (const char* folder : {"run/last", "run/best"}) {
    EXPECT_EQ(
        testing::names_in(desk.path() / folder),
        (std::vector<std::string>{"checkpoint.json", "manifest.json", "state.safetensors", "weights.safetensors"}));
  }
  const auto log = lines_of(desk.content("run/log.jsonl"));
  ASSERT_EQ(log.size(), 3u);
  for (std::size_t i = 0; i < log.size(); ++i) {
    const json round = json::parse(log[i]);
    EXPECT_EQ(round["round"], i + 1);
    EXPECT_EQ(round["steps"], 80 * (i + 1));  // 4 episodes of 20 steps a round
    EXPECT_EQ(round["updates"], 2 * (i + 1));
  }
  expect_contains(desk.content("run/config.toml"), {"rounds = 3", "episode_length = 20"});
}

TEST_F(CliTrain, TheWeightsOfARunAreThoseThatCollectTakes) {
  desk.run_well(train_words("run"));
  desk.run_well({"collect", "--data", "bars.csv", "--config", "run/config.toml", "--weights",
                 "run/best/weights.safetensors", "--out", "round.st"});
}

TEST_F(CliTrain, ATimeLimitEndsItWithACheckpointAndSuccess) {
  auto words = train_words("run", {"train.rounds=3"});
  words.insert(words.end(), {"--time-limit", "0.001s"});
  Outcome outcome = desk.run_well(words);
  EXPECT_EQ(outcome.err, "");
  expect_contains(outcome.out, {"time limit", "after round 1 of 3", "--resume"});
  EXPECT_EQ(json::parse(desk.content("run/last/checkpoint.json"))["round"], 1);
  // Each resume has its own limit; an hour is far away.
  outcome = desk.run_well({"train", "--resume", "--data", "bars.csv", "--out", "run", "--time-limit", "1h"});
  expect_contains(outcome.out, {"3 rounds done"});
  desk.run_well(train_words("whole", {"train.rounds=3"}));
  for (const char* file : {"/log.jsonl", "/last/weights.safetensors", "/last/checkpoint.json", "/config.toml"}) {
    EXPECT_TRUE(desk.content(std::string("run") + file) == desk.content(std::string("whole") + file)) << file;
  }
}

TEST_F(CliTrain, ATimeLimitIsADuration) {
  for (const char* bad : {"soon", "10 parsecs", "-5", "0", "0m", "", "nan"}) {
    auto words = train_words("run");
    words.insert(words.end(), {"--time-limit", bad});
    desk.expect_refused(words, {"--time-limit"});
  }
  int run = 0;
  for (const char* good : {"90", "90s", "30m", "1.5h", "2 h", "1d"}) {
    auto words = train_words("run" + std::to_string(run++));
    words.insert(words.end(), {"--time-limit", good});
    expect_contains(desk.run_well(words).out, {"1 rounds done"});
  }
}

TEST_F(CliTrain, AnEarlyStopSaysSoAndSoDoesResumingAfterIt) {
  // A learning rate of nothing: the first evaluation stays the best, rounds 2 and 3 bring no better one.
  const Outcome outcome = desk.run_well(train_words(
      "run", {"train.rounds=9", "train.early_stop=2", "learn.learning_rate=1e-30", "learn.learning_rate_end=1e-30"}));
  expect_contains(outcome.out, {"stopped early after round 3 of 9", "2 evaluations", "run/best"});
  const Outcome again = desk.run_well({"train", "--resume", "--data", "bars.csv", "--out", "run"});
  expect_contains(again.out, {"nothing to do", "early after round 3 of 9"});
  EXPECT_EQ(lines_of(desk.content("run/log.jsonl")).size(), 3u);
}

TEST_F(CliTrain, AlarmsAreWarningsInAPipeToo) {
  // Two updates of a network of eight units: it still prefers one exposure everywhere.
  const Outcome outcome = desk.run_well(train_words(
      "run", {"train.alarms=true", "collect.epsilon_start=0", "collect.epsilon_end=0", "env.cost_market=0.5"}));
  const json line = json::parse(lines_of(desk.content("run/log.jsonl")).at(0));
  ASSERT_TRUE(line.contains("alarms")) << line;
  EXPECT_EQ(outcome.err, "warptape: warning: " + line["alarms"]["one_action"].get<std::string>() + "\n");
}

/// Many short rounds, curiosity included: long enough to be stopped in the middle, whatever the machine.
class CliInterrupted : public CliTrain {
 protected:
  static constexpr int kRounds = 1500;

  std::vector<std::string> long_words(const std::string& out) const {
    return train_words(
        out, {"train.rounds=1500", "train.evaluate_every=500", "train.checkpoint_every=300",
              "train.updates_per_round=4", "env.curiosity_weight=0.1", "curiosity.batches=1", "curiosity.batch=16"});
  }

  std::size_t logged(const std::string& run) const { return lines_of(desk.content(run + "/log.jsonl")).size(); }

  /// Starts a run and sends the signal once it has logged so many rounds.
  Outcome stopped(int signal, std::size_t rounds) const {
    cli_test::Process process(desk.path(), long_words("cut"));
    while (!process.finished() && logged("cut") < rounds) std::this_thread::sleep_for(cli_test::kPoll);
    process.send(signal);
    return process.outcome();
  }

  void expect_resumed_run_equals_a_whole_one() const {
    const Outcome resumed = desk.run_well({"train", "--resume", "--data", "bars.csv", "--out", "cut"});
    EXPECT_EQ(resumed.err, "");
    expect_contains(resumed.out, {"1500 rounds done"});
    desk.run_well(long_words("whole"));
    for (const char* file : {"last/weights.safetensors", "last/state.safetensors", "last/checkpoint.json",
                             "best/weights.safetensors", "log.jsonl", "config.toml"}) {
      const std::string whole = desk.content(std::string("whole/") + file);
      EXPECT_FALSE(whole.empty());
      EXPECT_TRUE(desk.content(std::string("cut/") + file) == whole) << file;
    }
  }
};

TEST_F(CliInterrupted, CtrlCEndsWithACheckpointThatResumeFinishes) {
  const Outcome outcome = stopped(SIGINT, 30);
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.err, "");
  expect_contains(outcome.out, {"stopped after round", "--resume"});
  // Nothing is lost: the checkpoint is of the last round that was logged.
  const json checkpoint = json::parse(desk.content("cut/last/checkpoint.json"));
  EXPECT_EQ(checkpoint["round"], logged("cut"));
  EXPECT_LT(checkpoint["round"], kRounds);
  expect_resumed_run_equals_a_whole_one();
}

TEST_F(CliInterrupted, AKilledRunGoesOnFromItsLastCheckpoint) {
  EXPECT_EQ(stopped(SIGKILL, 330).exit_code, 128 + SIGKILL);
  expect_resumed_run_equals_a_whole_one();
}

class CliBacktest : public CliTrain {
 protected:
  void SetUp() override {
    CliTrain::SetUp();
    cli_test::put_trained_run(desk);
  }
  Outcome backtest(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words = {"backtest", "--run", "run", "--data", "bars.csv", "--out", "report"};
    words.insert(words.end(), options.begin(), options.end());
    return desk.run_well(words);
  }
};

TEST_F(CliBacktest, WritesEquityTradesAndMetricsOfAgentAndBaselines) {
  const Outcome outcome = backtest();
  EXPECT_EQ(outcome.err, "");
  expect_contains(outcome.out, {"test split", "agent", "buy-and-hold", "flat", "random", "report/metrics.json"});
  EXPECT_EQ(testing::names_in(desk.path() / "report"),
            (std::vector<std::string>{"equity.csv", "metrics.json", "trades.csv"}));

  // 800 bars behind the look-back; the last 30 % of them, 240, lose the embargo of 100.
  const auto equity = lines_of(desk.content("report/equity.csv"));
  ASSERT_EQ(equity.size(), 1u + 140u);
  EXPECT_EQ(equity[0], "time,equity,buy-and-hold,flat,random");
  const json metrics = json::parse(desk.content("report/metrics.json"));
  EXPECT_EQ(metrics["split"], "test");
  EXPECT_EQ(metrics["segments"][0]["bars"], 139);
  const json& policies = metrics["segments"][0]["policies"];
  ASSERT_EQ(policies.size(), 4u);
  for (const char* policy : {"agent", "buy-and-hold", "flat", "random"}) {
    EXPECT_EQ(policies[policy]["first_equity"], 100000.0) << policy;
    EXPECT_TRUE(policies[policy]["metrics"]["total_return"]["value"].is_number()) << policy;
  }
  EXPECT_EQ(policies["flat"]["last_equity"], 100000.0);
  expect_contains(lines_of(desk.content("report/trades.csv")).at(0), {"opened,closed,side,units,entry_price"});
}

TEST_F(CliBacktest, BuyAndHoldIsTheMarketAfterOneCost) {
  backtest();
  const auto close_of = [&](int bar) {
    const std::string line = cli_test::bar_lines(cli_test::kBars)[static_cast<std::size_t>(bar) + 1];
    return std::strtod(line.substr(line.rfind(',', line.rfind(',') - 1) + 1).c_str(), nullptr);
  };
  const json metrics = json::parse(desk.content("report/metrics.json"));
  // All cash buys at the first bar of the test split (100 + 560 + 100), at 1 basis point, and is held to the last.
  // The chain fixes the cap anew every 20 bars; what is held is the cap then, to rounding.
  const double expected = 100000 / 1.0001 * close_of(899) / close_of(760);
  const double actual = metrics["segments"][0]["policies"]["buy-and-hold"]["last_equity"];
  EXPECT_NEAR(actual, expected, 1e-6);
}

TEST_F(CliBacktest, SaysWhenTheSplitWasTrainedOn) {
  expect_contains(backtest({"--split", "train"}).out, {"train split", "in-sample"});
  EXPECT_EQ(backtest({"--split", "validation"}).out.find("in-sample"), std::string::npos);
}

TEST_F(CliBacktest, SaysWhenTheBarsAreOthers) {
  cli_test::Lines lines = cli_test::bar_lines(cli_test::kBars);
  cli_test::set_field(lines, 300, 5, "1");
  desk.put("bars.csv", cli_test::joined(lines));
  expect_contains(backtest().err, {"not the bars that the run was trained on"});
}

TEST_F(CliBacktest, GivesTheSameReportEachTime) {
  backtest({"--checkpoint", "last"});
  const std::string once = desk.content("report/equity.csv") + desk.content("report/metrics.json");
  backtest({"--checkpoint", "last"});
  EXPECT_TRUE(once == desk.content("report/equity.csv") + desk.content("report/metrics.json"));
}

}  // namespace
}  // namespace warptape
