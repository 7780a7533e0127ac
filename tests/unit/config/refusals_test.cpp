#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/io/temp_folder.h"
#include "warptape/config.h"
#include "warptape/error.h"

namespace warptape {
namespace {

/// The Error's message for a file run.toml and settings; empty when they are taken.
std::string refusal(const std::string& toml, const std::vector<std::string>& settings = {}) {
  return testing::message_of<Error>([&] { parse_config(toml, "run.toml", settings); });
}
std::string refusal_of_setting(const std::string& setting) {
  return refusal("", {setting});
}

void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "wanted: " << word << "\nin: '" << message << "'";
  }
}

TEST(ConfigRefusals, UnknownKeyOfAFileNamesLineAndNearest) {
  expect_words(refusal("# mine\n[env]\nleverage = 2\nlevrage = 3\n"), {"run.toml:4", "env.levrage", "env.leverage"});
  expect_words(refusal("seeed = 2\n"), {"run.toml:1", "seeed", "nearest is seed "});
  expect_words(refusal("[lern]\nbatch = 2\n"), {"run.toml:2", "lern.batch", "nearest is learn.batch "});
}

TEST(ConfigRefusals, UnknownKeyOfASettingNamesNearest) {
  expect_words(refusal_of_setting("env.exposure=[1]"), {"--set env.exposure=[1]", "nearest is env.exposures "});
  expect_words(refusal_of_setting("replay.size=10"), {"replay.size", "replay."});
  expect_words(refusal_of_setting("Env.leverage=1"), {"Env.leverage", "nearest is env.leverage "});  // case counts
}

TEST(ConfigRefusals, WrongTypeNamesValueAndWantedType) {
  expect_words(refusal("[env]\n\nleverage = \"much\"\n"), {"run.toml:3", "env.leverage", "\"much\"", "number"});
  expect_words(refusal_of_setting("env.leverage=true"), {"env.leverage", "true", "not a number"});
  expect_words(refusal_of_setting("env.leverage=[1]"), {"env.leverage", "[1]", "not a number"});
  expect_words(refusal_of_setting("data.sort=1"), {"data.sort", "1 is not a boolean"});
  expect_words(refusal_of_setting("env.rules=1"), {"env.rules", "1 is not a string", "classic, market"});
  expect_words(refusal_of_setting("learn.optimiser=[\"adam\"]"), {"learn.optimiser", "not a string"});
  expect_words(refusal_of_setting("env.exposures=1"), {"env.exposures", "1 is not an array of numbers"});
  expect_words(refusal_of_setting("env.exposures=[\"a\"]"), {"env.exposures", "not an array of numbers"});
  expect_words(refusal_of_setting("env.order_types=[1]"), {"env.order_types", "not an array of strings"});
  expect_words(refusal_of_setting("env.leverage=2020-01-01"), {"env.leverage", "dates"});
  expect_words(refusal_of_setting("env.leverage={a = 1}"), {"env.leverage", "tables"});
}

TEST(ConfigRefusals, AFractionIsNotAnInteger) {
  expect_words(refusal_of_setting("train.rounds=5.5"), {"train.rounds", "5.5 is not an integer"});
  expect_words(refusal_of_setting("train.rounds=5.0"), {"train.rounds", "5.0 is not an integer"});
}

TEST(ConfigRefusals, ATextIsNotANumber) {
  expect_words(refusal_of_setting("env.leverage=much"), {"--set env.leverage=much", "'much'", "a number"});
  expect_words(refusal_of_setting("env.order_types=market"), {"'market'", "an array of strings"});
  expect_words(refusal_of_setting("env.leverage="), {"''", "a number"});
}

TEST(ConfigRefusals, MixedNestedAndOddArrays) {
  expect_words(refusal_of_setting("env.exposures=[1, \"a\"]"), {"env.exposures", "numbers or strings, not both"});
  expect_words(refusal_of_setting("env.exposures=[[1]]"), {"env.exposures", "numbers or strings"});
  expect_words(refusal_of_setting("env.exposures=[true]"), {"env.exposures", "numbers or strings"});
}

TEST(ConfigRefusals, EmptyArrays) {
  for (const char* key : {"env.exposures", "env.order_types", "env.urgency_cost"}) {
    expect_words(refusal_of_setting(std::string(key) + "=[]"), {key, "empty"});
    expect_words(refusal(std::string(key) + " = []\n"), {"run.toml:1", key, "empty"});
  }
}

TEST(ConfigRefusals, UnknownChoiceNamesTheChoices) {
  expect_words(refusal_of_setting("env.rules=modern"), {"env.rules", "\"modern\"", "classic, market"});
  expect_words(refusal_of_setting("learn.target_sync=soft"), {"learn.target_sync", "\"soft\"", "polyak, hard"});
  expect_words(refusal_of_setting("data.on_duplicate=keep-first"), {"\"keep-first\"", "refuse, keep-last"});
  expect_words(refusal_of_setting("env.order_types=[\"market\", \"stop\"]"), {"\"stop\"", "market, limit_maker, ioc"});
}

struct Bound {
  const char* key;
  const char* taken;    ///< the last value inside
  const char* refused;  ///< the first outside
  std::vector<std::string> with = {};
};

TEST(ConfigRefusals, EachSideOfEachBound) {
  const std::vector<Bound> bounds = {
      {"env.leverage", "1e-9", "0"},
      {"env.leverage", "1e300", "inf"},
      {"env.initial_capital", "1e-9", "-1"},
      {"env.max_position", "0.5", "0"},
      {"env.reserve_pct", "0", "-1e-9"},
      {"env.reserve_pct", "100", "100.001"},
      {"env.lot_size", "0", "-1"},
      {"env.cost_market", "0.5", "0.50001"},
      {"env.cost_ioc", "0", "-0.00001"},
      {"env.exposures", "[-100, 100]", "[1, 100.5]"},
      {"env.exposures", "[0, 1]", "[0, nan]"},
      {"env.urgency_cost", "[0, 1]", "[1, -0.5]"},
      {"env.episode_length", "1", "0"},
      {"env.barrier_stop_bps", "9999", "10000"},
      {"env.diversity_window", "3", "2"},
      {"env.diversity_window", "256", "257"},
      {"collect.episodes", "262144", "262145", {"collect.steps=1"}},
      {"collect.steps", "1", "0"},
      {"collect.epsilon_start", "1", "1.000001"},
      {"learn.gamma", "0", "-0.001"},
      {"learn.gamma", "1", "1.001"},
      {"learn.tau", "1e-6", "0"},
      {"learn.tau", "1", "1.001"},
      {"learn.beta2", "0.9999999", "1"},
      {"net.value", "4096", "4097"},
      {"net.shared_0", "1", "0"},
      {"split.validation", "0.01", "0.009"},
      {"train.updates_per_round", "0", "-1"},
      {"seed", "9000000000000000000", "-1"},
      {"threads", "0", "-1"},
  };
  for (const Bound& b : bounds) {
    std::vector<std::string> settings = b.with;
    settings.push_back(std::string(b.key) + "=" + b.taken);
    EXPECT_EQ(refusal("", settings), "") << b.key;
    settings.back() = std::string(b.key) + "=" + b.refused;
    expect_words(refusal("", settings), {"--set " + settings.back(), b.key, "out of range", "allowed"});
  }
}

TEST(ConfigRefusals, AValueOutOfRangeNamesItsLine) {
  expect_words(refusal("[learn]\nbatch = 8\ngamma = 1.5\n"), {"run.toml:3", "learn.gamma", "1.5", "0 to 1"});
}

TEST(ConfigRefusals, RepeatedEntries) {
  expect_words(refusal_of_setting("env.exposures=[-1, 0, 1, 0]"), {"env.exposures", "0 is listed twice"});
  expect_words(refusal_of_setting("env.order_types=['ioc', 'ioc']"), {"env.order_types", "ioc is listed twice"});
  EXPECT_EQ(refusal_of_setting("env.urgency_cost=[1, 1]"), "");  // two names for one cost, as in the defaults
}

std::string exposures(int count) {
  std::string text = "env.exposures=[0";
  for (int i = 1; i < count; ++i) text += ", " + std::to_string(i) + "e-3";
  return text + "]";
}

TEST(ConfigRefusals, TooManyActions) {
  const std::vector<std::string> one_each = {"env.order_types=['market']", "env.urgency_cost=[1]"};
  const auto with = [&](int count) {
    std::vector<std::string> settings = one_each;
    settings.push_back(exposures(count));
    return refusal("", settings);
  };
  EXPECT_EQ(with(256), "");
  expect_words(with(257), {"257 actions", "at most 256"});
  expect_words(refusal_of_setting(exposures(29)), {"261 actions"});  // 29 · 3 · 3
}

TEST(ConfigRefusals, SplitsThatLeaveNoTest) {
  EXPECT_EQ(refusal("split.train = 0.75\nsplit.validation = 0.2\n"), "");
  expect_words(refusal("split.train = 0.75\nsplit.validation = 0.25\n"), {"split.train", "split.validation", "test"});
  expect_words(refusal_of_setting("split.train=0.9"), {"split.train + split.validation = 1.05"});
}

TEST(ConfigRefusals, WhatTheReplayCannotHold) {
  const std::string small_round = "[collect]\nepisodes = 10\nsteps = 10\n";
  EXPECT_EQ(refusal(small_round + "[replay]\ncapacity = 100\n[learn]\nbatch = 100\n"), "");
  expect_words(refusal(small_round + "[replay]\ncapacity = 100\n[learn]\nbatch = 101\n"),
               {"learn.batch = 101", "replay.capacity = 100"});
  expect_words(refusal(small_round + "[replay]\ncapacity = 99\n[learn]\nbatch = 8\n"),
               {"collect.episodes", "collect.steps", "100 experiences", "replay.capacity = 99"});
}

TEST(ConfigRefusals, TomlThatIsNoneNamesTheLine) {
  expect_words(refusal("[env]\nleverage = 2\nlot_size = = 3\n"), {"run.toml:3", "not TOML"});
  expect_words(refusal("[env]\nleverage = 2\nleverage = 3\n"), {"run.toml:3", "not TOML", "leverage"});
}

TEST(ConfigRefusals, SettingsThatAreNone) {
  for (const char* setting : {"env.leverage", "=2", "  =2", ""}) {
    expect_words(refusal_of_setting(setting), {"write key=value"});
  }
}

TEST(ConfigRefusals, ASettingHoldsOneKey) {
  expect_words(refusal_of_setting("env.leverage=2\nenv.lot_size=3"), {"one line"});
}

TEST(ConfigRefusals, AFileThatCannotBeRead) {
  const testing::TempFolder folder;
  expect_words(testing::message_of<Error>([&] { load_config(folder / "none.toml", {}); }), {"none.toml", "read"});
  expect_words(testing::message_of<Error>([&] { load_config(folder.path(), {}); }), {folder.path().string(), "read"});
}

}  // namespace
}  // namespace warptape
