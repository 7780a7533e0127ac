// --preset, wherever a configuration is loaded, and what `config` shows of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "warptape/config.h"

namespace warptape {
namespace {

using cli_test::Desk;
using cli_test::expect_contains;

TEST(CliPreset, ConfigPrintsTheConfigurationThatComesOfIt) {
  const Desk desk;
  for (const Preset& preset : presets()) {
    const std::string shown = desk.run_well({"config", "--preset", preset.name}).out;
    EXPECT_EQ(shown, to_toml(parse_config("", "", {}, preset.name))) << preset.name;
  }
  desk.put("mine.toml", "seed = 5\nnet.shared_0 = 17\n");
  const std::string shown =
      desk.run_well({"config", "--preset", "fast", "--config", "mine.toml", "--set", "net.shared_1=19"}).out;
  const Config read = parse_config(shown, "shown");
  EXPECT_EQ(read.seed, 5u);
  EXPECT_EQ(read.net.shared_0, 17);
  EXPECT_EQ(read.net.shared_1, 19);
  EXPECT_EQ(read.train.rounds, parse_config("", "", {}, "fast").train.rounds);
}

TEST(CliPreset, TrainWritesTheEffectiveConfiguration) {
  const Desk desk;
  desk.put("bars.csv", cli_test::bars_csv(cli_test::kBars));
  desk.put("tiny.toml", cli_test::kTinyConfig);
  desk.run_well({"train", "--preset", "classic", "--config", "tiny.toml", "--data", "bars.csv", "--out", "run", "--set",
                 "learn.batch=17"});
  const Config expected = parse_config(cli_test::kTinyConfig, "tiny.toml", {"learn.batch=17"}, "classic");
  EXPECT_EQ(desk.content("run/config.toml"), to_toml(expected));
  EXPECT_EQ(expected.env.rules, RuleSet::kClassic);

  desk.expect_refused({"train", "--resume", "--preset", "classic", "--data", "bars.csv", "--out", "run"},
                      {"--resume", "--preset"});
}

TEST(CliPreset, OtherCommandsTakeIt) {
  const Desk desk;
  desk.put("bars.csv", "time,close\n2020-01-01,100\n2020-01-02,101\n");
  desk.put("actions.csv", "44\n");
  const std::vector<std::string> simulate = {"simulate", "--data", "bars.csv", "--actions", "actions.csv"};
  const auto steps_under = [&](const char* option, const char* rules) {
    std::vector<std::string> words = simulate;
    words.insert(words.end(), {option, rules, "--out", std::string(rules) + option + ".csv"});
    desk.run_well(words);
    return desk.content(words.back());
  };
  EXPECT_EQ(steps_under("--preset", "classic"), steps_under("--rules", "classic"));
  EXPECT_EQ(steps_under("--preset", "market"), steps_under("--rules", "market"));
  EXPECT_NE(steps_under("--preset", "classic"), steps_under("--preset", "market"));

  desk.put("more.csv", cli_test::bars_csv(cli_test::kBars));
  desk.put("tiny.toml", cli_test::kTinyConfig);
  const auto round_under = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> words = {"collect", "--data", "more.csv", "--config", "tiny.toml", "--out", name};
    words.insert(words.end(), options.begin(), options.end());
    desk.run_well(words);
    return desk.content(name);
  };
  EXPECT_EQ(round_under("a", {"--preset", "classic"}), round_under("b", {"--rules", "classic"}));
  EXPECT_NE(desk.content("a"), round_under("c", {"--preset", "fast"}));

  expect_contains(
      desk.run_well({"bench", "collect", "--preset", "fast", "--episodes", "2", "--steps", "2", "--repeats", "1"}).out,
      {"collect"});
}

TEST(CliPreset, RefusalsNameTheChoices) {
  const Desk desk;
  desk.expect_refused({"config", "--preset", "fsat"}, {"--preset fsat", "nearest is fast", "classic, market, fast"});
  desk.put("classic.toml", "[env]\nrules = \"classic\"\n");
  desk.expect_refused({"config", "--preset", "fast", "--config", "classic.toml"},
                      {"classic.toml:2", "env.rules", "--preset fast", "market"});
  desk.expect_refused({"config", "--preset", "fast", "--rules", "classic"}, {"env.rules=classic", "--preset fast"});
}

}  // namespace
}  // namespace warptape
