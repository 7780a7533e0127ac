// What the program says about itself, and what it says when it is called wrongly.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/build_info.h"
#include "unit/cli/run_program.h"
#include "warptape/config.h"

namespace warptape {
namespace {

using cli_test::Desk;
using cli_test::expect_contains;
using cli_test::Outcome;

const std::vector<std::string> kCommands = {"train",   "backtest", "simulate", "collect", "features",
                                            "metrics", "bench",    "config",   "info"};

TEST(CliHelp, OfTheProgramListsTheCommandsAndAFirstRun) {
  const Outcome help = Desk().run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  expect_contains(help.out, kCommands);
  expect_contains(help.out, {"example", "warptape train --data"});
}

TEST(CliHelp, OfEveryCommandHasAnExampleOfIt) {
  const Desk desk;
  for (const std::string& command : kCommands) {
    const Outcome help = desk.run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_EQ(help.err, "") << command;
    expect_contains(help.out, {"Example", "warptape " + command});
  }
  for (const std::string part : {"collect", "learn", "signature"}) {
    const Outcome help = desk.run({"bench", part, "--help"});
    EXPECT_EQ(help.exit_code, 0) << part;
    expect_contains(help.out, {"Example", "warptape bench " + part});
  }
}

TEST(CliHelp, InfoNamesVersionAndBackends) {
  const Outcome info = Desk().run({"info"});
  EXPECT_EQ(info.exit_code, 0);
  expect_contains(info.out, {std::string("warptape ") + version(), build(), "backends", "cpu"});
}

TEST(CliHelp, ConfigTomlIsTheDefaultsOfTheRules) {
  const Desk desk;
  for (const RuleSet rules : {RuleSet::kClassic, RuleSet::kMarket}) {
    const Outcome toml = desk.run({"config", "--toml", "--rules", rule_set_name(rules)});
    EXPECT_EQ(toml.exit_code, 0);
    const Config read = parse_config(toml.out, "stdout");
    EXPECT_EQ(read.env.rules, rules);
    EXPECT_EQ(read.env.barrier_stop_bps, rules == RuleSet::kClassic ? 50 : 0);
    EXPECT_EQ(to_toml(read), to_toml(Config::defaults(rules)));
  }
}

TEST(CliHelp, ConfigTomlIsTakenByConfig) {
  const Desk desk;
  desk.put("mine.toml", desk.run({"config", "--toml"}).out);
  desk.put("bars.csv", "time,close\n2020-01-01,100\n2020-01-02,101\n");
  desk.put("actions.csv", "0\n");
  desk.run_well(
      {"simulate", "--config", "mine.toml", "--data", "bars.csv", "--actions", "actions.csv", "--out", "steps.csv"});
}

TEST(CliHelp, ConfigListsEveryKey) {
  const Desk desk;
  const Outcome text = desk.run({"config"}), markdown = desk.run({"config", "--markdown"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(markdown.exit_code, 0);
  for (const KeyDoc& key : config_keys()) {
    expect_contains(text.out, {key.name + " = "});
    expect_contains(markdown.out, {"\n| `" + key.name + "` |"});
  }
  expect_contains(markdown.out, {"| `env.barrier_stop_bps` | classic `50`, market `0` |"});
}

TEST(CliUsage, NoCommand) {
  Desk().expect_refused({}, {"subcommand is required", "--help"});
}

TEST(CliUsage, UnknownCommand) {
  const Desk desk;
  desk.expect_refused({"trian"}, {"--help"});
  desk.expect_refused({"bench", "collects"}, {"--help"});
}

TEST(CliUsage, UnknownOption) {
  const Desk desk;
  desk.put("bars.csv", "time,close\n2020-01-01,100\n2020-01-02,101\n");
  desk.expect_refused({"features", "--data", "bars.csv", "--out", "out", "--outs", "x"}, {"--outs", "--help"});
  desk.expect_refused({"info", "--all"}, {"--all"});
}

TEST(CliUsage, MissingOptions) {
  const Desk desk;
  for (const std::string command : {"train", "backtest", "simulate", "collect", "features"}) {
    desk.expect_refused({command, "--out", "out"}, {"is required"});
    desk.expect_refused({command, "--data", "bars.csv"}, {"is required"});
  }
  desk.expect_refused({"metrics"}, {"--equity", "required"});
}

TEST(CliUsage, ValuesThatAreNotOfTheOption) {
  const Desk desk;
  const std::vector<std::string> features = {"features", "--data", "bars.csv", "--out", "out", "--on-duplicate"};
  auto words = features;
  words.emplace_back("first");
  desk.expect_refused(words, {"--on-duplicate", "first", "keep-last"});
  desk.expect_refused({"collect", "--data", "b", "--out", "o", "--outputs", "some"}, {"--outputs", "some", "basic"});
  desk.expect_refused({"collect", "--data", "b", "--out", "o", "--epsilon", "1.5"}, {"--epsilon", "1.5"});
  desk.expect_refused({"collect", "--data", "b", "--out", "o", "--steps", "many"}, {"--steps", "many"});
  desk.expect_refused({"backtest", "--run", "r", "--data", "b", "--out", "o", "--checkpoint", "first"},
                      {"--checkpoint", "first", "best"});
  desk.expect_refused({"config", "--toml", "--rules", "modern"}, {"modern", "classic, market"});
}

TEST(CliUsage, BenchTakesNoEmptyRound) {
  const Desk desk;
  desk.expect_refused({"bench", "collect", "--episodes", "0"}, {"--episodes", "262144"});
  desk.expect_refused({"bench", "collect", "--steps", "0"}, {"--steps"});
  desk.expect_refused({"bench", "learn", "--batch", "0"}, {"--batch", "65536"});
  desk.expect_refused({"bench", "learn", "--updates", "-1"}, {"--updates"});
  desk.expect_refused({"bench", "collect", "--bars", "1000", "--set", "env.episode_length=5000"},
                      {"1000 bars", "env.episode_length = 5000"});
}

}  // namespace
}  // namespace warptape
