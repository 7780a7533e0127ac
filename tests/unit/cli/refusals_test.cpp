// Section 8 of docs/domain.md beside the bars: configuration, actions, checkpoints, places to write to.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

using Words = std::vector<std::string>;

class CliRefusals : public ::testing::Test {
 protected:
  void SetUp() override {
    desk.put("bars.csv", cli_test::bars_csv(cli_test::kBars));
    desk.put("tiny.toml", cli_test::kTinyConfig);
    desk.put("actions.csv", "0\n2\n");
  }

  Words words_of(const std::string& command, const std::string& out, const Words& more = {}) const {
    Words words = {command, "--data", "bars.csv", "--out", out};
    if (command != "features") words.insert(words.end(), {"--config", "tiny.toml"});
    if (command == "simulate") words.insert(words.end(), {"--actions", "actions.csv"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void refuse(const std::string& command, const Words& options, const Words& message) {
    Words words = words_of(command, "out");
    words.insert(words.end(), options.begin(), options.end());
    desk.expect_refused(words, message);
    EXPECT_FALSE(desk.has("out"));
  }

  cli_test::Desk desk;
};

// ---- configuration ----------------------------------------------------------------------------------------------

class CliConfigRefusals : public CliRefusals, public ::testing::WithParamInterface<const char*> {};

TEST_P(CliConfigRefusals, UnknownKeyNamesTheNearest) {
  refuse(GetParam(), {"--set", "env.levrage=2"}, {"env.levrage", "nearest is env.leverage"});
}

TEST_P(CliConfigRefusals, UnknownKeyOfAFileNamesItsLine) {
  desk.put("tiny.toml", "[env]\nleverage = 1\nlot = 2\n");
  refuse(GetParam(), {}, {"tiny.toml:3", "env.lot", "nearest is env."});
}

TEST_P(CliConfigRefusals, ValueOutOfRange) {
  refuse(GetParam(), {"--set", "env.reserve_pct=101"}, {"env.reserve_pct", "101", "0 to 100"});
}

TEST_P(CliConfigRefusals, MissingFile) {
  Words words = words_of(GetParam(), "out");
  for (std::string& word : words) word = word == "tiny.toml" ? "none.toml" : word;
  desk.expect_refused(words, {"none.toml", "No such file"});
}

TEST_P(CliConfigRefusals, AFolderIsNoConfiguration) {
  std::filesystem::create_directory(desk.path() / "folder");
  Words words = words_of(GetParam(), "out");
  for (std::string& word : words) word = word == "tiny.toml" ? "folder" : word;
  desk.expect_refused(words, {"folder", "directory"});
}

INSTANTIATE_TEST_SUITE_P(Every, CliConfigRefusals, ::testing::Values("train", "simulate", "collect"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(CliRefusals, RoundsThatCannotBe) {
  refuse("collect", {"--steps", "0"}, {"collect.steps", "0 is out of range"});
  refuse("collect", {"--episodes", "262145"}, {"collect.episodes", "262145 is out of range"});
  refuse("collect", {"--split", "future"}, {"'future'", "train, validation, test"});
  refuse("train", {"--set", "replay.capacity=79"}, {"80 experiences", "replay.capacity = 79"});
}

TEST_F(CliRefusals, BackendsThatAreNotThere) {
  refuse("train", {"--backend", "cuda"}, {"--backend cuda", "no GPU backend", "cpu"});
  refuse("train", {"--backend", "tpu"}, {"--backend tpu", "cpu, cuda or auto"});
}

// ---- actions ----------------------------------------------------------------------------------------------------

struct BadActions {
  const char* name;
  const char* text;
  Words message;
};

class CliBadActions : public CliRefusals, public ::testing::WithParamInterface<BadActions> {};

TEST_P(CliBadActions, AreRefused) {
  desk.put("tiny.toml", "");  // all 45 actions
  desk.put("actions.csv", GetParam().text);
  refuse("simulate", {}, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Every, CliBadActions,
    ::testing::Values(
        BadActions{"IndexTooLarge", "0\n44\n45\n", {"actions.csv:3", "action 45", "44"}},
        BadActions{"IndexNegative", "0\n-1\n", {"actions.csv:2", "action -1"}},
        BadActions{"IndexFraction", "0\n1.5\n", {"actions.csv:2", "\"1.5\""}},
        BadActions{"Exposure",
                   "exposure,order,urgency\n1,market,normal\n0.3,market,normal\n",
                   {"actions.csv:3", "column exposure", "\"0.3\"", "-0.5"}},
        BadActions{
            "Order", "exposure,order,urgency\n1,stop,normal\n", {"actions.csv:2", "column order", "\"stop\"", "ioc"}},
        BadActions{"Urgency",
                   "exposure,order,urgency\n1,market,hasty\n",
                   {"actions.csv:2", "column urgency", "\"hasty\"", "patient"}},
        BadActions{"NoExposure", "order,urgency\nmarket,normal\n", {"actions.csv:1", "no column exposure"}},
        BadActions{"NoUrgency", "exposure,order\n1,market\n", {"actions.csv:1", "no column urgency"}},
        BadActions{"ShortRow", "exposure,order,urgency\n1,market,normal\n1,market\n", {"actions.csv:3", "urgency"}},
        BadActions{"Nothing", "", {"actions.csv", "no actions"}},
        BadActions{"HeaderAlone", "exposure,order,urgency\n", {"actions.csv", "no actions"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(CliRefusals, ActionsThatAreNotThere) {
  std::filesystem::remove(desk.path() / "actions.csv");
  refuse("simulate", {}, {"actions.csv", "cannot be read"});
}

TEST_F(CliRefusals, FirstBarOutsideTheData) {
  refuse("simulate", {"--first-bar", "-1"}, {"--first-bar -1", "bars.csv"});
  refuse("simulate", {"--first-bar", "899"}, {"--first-bar 899", "0 … 899"});  // the last bar has no next price
  refuse("simulate", {"--first-bar", "5000"}, {"--first-bar 5000"});
}

// ---- places to write to -----------------------------------------------------------------------------------------

TEST_F(CliRefusals, OutUnderAFile) {
  for (const char* command : {"train", "simulate", "collect", "features"}) {
    desk.expect_refused(words_of(command, "bars.csv/out"), {"bars.csv/out", "Not a directory"});
  }
}

TEST_F(CliRefusals, OutInAFolderThatIsNotThere) {
  for (const char* command : {"simulate", "collect", "features"}) {
    desk.expect_refused(words_of(command, "none/out"), {"none/out", "no folder 'none'"});
  }
}

TEST_F(CliRefusals, OutThatIsAFolderWhereAFileIsMade) {
  std::filesystem::create_directory(desk.path() / "folder");
  for (const char* command : {"simulate", "collect", "features"}) {
    desk.expect_refused(words_of(command, "folder"), {"'folder'", "directory"});
  }
}

TEST_F(CliRefusals, OutThatIsAFileWhereAFolderIsMade) {
  desk.expect_refused(words_of("train", "bars.csv"), {"bars.csv", "is a file"});
}

// ---- runs and checkpoints ---------------------------------------------------------------------------------------

class CliCheckpoints : public CliRefusals {
 protected:
  void SetUp() override {
    CliRefusals::SetUp();
    cli_test::put_trained_run(desk);
  }

  void refuse_backtest(const Words& message) {
    desk.expect_refused({"backtest", "--run", "run", "--data", "bars.csv", "--out", "out"}, message);
    EXPECT_FALSE(desk.has("out"));
  }
  void refuse_resume(const Words& message, const Words& options = {}) {
    Words words = {"train", "--resume", "--data", "bars.csv", "--out", "run"};
    words.insert(words.end(), options.begin(), options.end());
    desk.expect_refused(words, message);
  }
  void cut(const std::string& file, int bytes) const {
    std::filesystem::resize_file(desk.path() / file, desk.content(file).size() - static_cast<std::size_t>(bytes));
  }
  void flip_last_bit(const std::string& file) const {
    std::string content = desk.content(file);
    content.back() = static_cast<char>(content.back() ^ 1);
    desk.put(file, content);
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string content = desk.content(file);
    const std::size_t at = content.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    desk.put(file, content.replace(at, from.size(), to));
  }
};

TEST_F(CliCheckpoints, Truncated) {
  cut("run/best/weights.safetensors", 10);
  refuse_backtest({"run/best/weights.safetensors", "truncated"});
  cut("run/last/state.safetensors", 1);
  refuse_resume({"run/last/state.safetensors", "truncated"});
}

TEST_F(CliCheckpoints, Tampered) {
  flip_last_bit("run/best/weights.safetensors");
  refuse_backtest({"run/best/weights.safetensors", "changed since it was written"});
  flip_last_bit("run/last/state.safetensors");
  refuse_resume({"run/last/state.safetensors", "changed since it was written"});
}

TEST_F(CliCheckpoints, TamperedSettings) {
  replace("run/best/checkpoint.json", "cost_market = 0.0001", "cost_market = 0.0000");
  refuse_backtest({"run/best/checkpoint.json", "changed since it was written"});
  replace("run/last/checkpoint.json", "\"round\": 1", "\"round\": 0");
  refuse_resume({"run/last/checkpoint.json", "changed since it was written"});
}

TEST_F(CliCheckpoints, WithoutAFile) {
  std::filesystem::remove(desk.path() / "run/best/weights.safetensors");
  refuse_backtest({"run/best/weights.safetensors", "missing"});
  std::filesystem::remove(desk.path() / "run/last/manifest.json");
  refuse_resume({"run/last/manifest.json", "missing"});
}

TEST_F(CliCheckpoints, NotThere) {
  std::filesystem::remove_all(desk.path() / "run/best");
  refuse_backtest({"run/best", "no checkpoint"});
  desk.expect_refused({"backtest", "--run", "none", "--data", "bars.csv", "--out", "out"}, {"none", "no checkpoint"});
  desk.expect_refused({"train", "--resume", "--data", "bars.csv", "--out", "none"}, {"none", "no run to resume"});
  refuse_resume({"run/previous", "no checkpoint", "run/last", "round 1", "--resume"}, {"--from", "previous"});
  desk.expect_refused({"train", "--from", "best", "--data", "bars.csv", "--out", "run"}, {"--from", "--resume"});
  refuse_resume({"--from", "newest", "previous"}, {"--from", "newest"});
}

TEST_F(CliCheckpoints, ARunIsNotOverwritten) {
  desk.expect_refused(words_of("train", "run"), {"run", "already holds a run", "--resume"});
}

TEST_F(CliCheckpoints, AResumedRunKeepsItsConfiguration) {
  refuse_resume({"run/config.toml", "env.leverage is 1, not 2", "only threads"}, {"--set", "env.leverage=2"});
  refuse_resume({"seed is 3, not 9"}, {"--seed", "9"});
  desk.put("other.toml", "curiosity.every = 3\n" + std::string(cli_test::kTinyConfig));
  refuse_resume({"run/config.toml", "--resume"}, {"--config", "other.toml"});
  refuse_resume({"--backend cuda", "no GPU backend"}, {"--backend", "cuda"});
}

TEST_F(CliCheckpoints, OfAnotherRun) {
  desk.run_well(words_of("train", "other", {"--seed", "4"}));
  std::filesystem::remove_all(desk.path() / "run/last");
  std::filesystem::copy(desk.path() / "other/last", desk.path() / "run/last");
  refuse_resume({"run/last", "not of this run", "seed is 4", "3 in run/config.toml", "--from best"});
  replace("run/config.toml", "seed = 3", "seed = 5");
  refuse_resume({"run/last", "not of this run", "5 in run/config.toml"});
  replace("run/config.toml", "seed = 5", "seed = x");
  refuse_resume({"run/config.toml", "remove the file"});
}

TEST_F(CliCheckpoints, WithAnotherLog) {
  replace("run/log.jsonl", "\"round\":1", "\"round\":2");
  refuse_resume({"run/log.jsonl", "changed since the checkpoint was written"});
}

TEST_F(CliCheckpoints, AResumedRunNeedsItsBars) {
  cli_test::Lines lines = cli_test::bar_lines(cli_test::kBars);
  cli_test::set_field(lines, 300, 5, "1");  // one volume
  desk.put("bars.csv", cli_test::joined(lines));
  refuse_resume({"bars.csv", "checksum", "same bars"});
}

TEST_F(CliCheckpoints, BacktestSplitsAndPlaces) {
  const auto refuse = [&](const Words& options, const Words& message) {
    Words words = {"backtest", "--run", "run", "--data", "bars.csv"};
    words.insert(words.end(), options.begin(), options.end());
    desk.expect_refused(words, message);
  };
  refuse({"--out", "out", "--split", "future"}, {"'future'", "train, validation, test"});
  refuse({"--out", "bars.csv"}, {"bars.csv", "Not a directory"});
  refuse({"--out", "bars.csv/out"}, {"bars.csv/out", "Not a directory"});
}

}  // namespace
}  // namespace warptape
