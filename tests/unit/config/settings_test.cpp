#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/io/temp_folder.h"
#include "warptape/config.h"

namespace warptape {
namespace {

Config with(const std::vector<std::string>& settings, const std::string& file = "") {
  return parse_config(file, "run.toml", settings);
}

TEST(ConfigSettings, StandOverTheFile) {
  const Config config = with({"env.leverage=3"}, "env.leverage = 2\nenv.lot_size = 5\n");
  EXPECT_EQ(config.env.leverage, 3);
  EXPECT_EQ(config.env.lot_size, 5);
}

TEST(ConfigSettings, TheLastOfTwoCounts) {
  EXPECT_EQ(with({"env.leverage=2", "env.leverage=4"}).env.leverage, 4);
}

TEST(ConfigSettings, AWordNeedsNoQuotes) {
  EXPECT_EQ(with({"learn.optimiser=adamw"}).learn.optimiser, "adamw");
  EXPECT_EQ(with({"learn.optimiser=\"adamw\""}).learn.optimiser, "adamw");
  EXPECT_EQ(with({"data.on_duplicate=keep-last"}).data.on_duplicate, "keep-last");
  EXPECT_EQ(with({"env.rules=classic"}).env.rules, RuleSet::kClassic);
}

TEST(ConfigSettings, BlanksAroundKeyAndValueDoNotCount) {
  EXPECT_EQ(with({"env.leverage = 2"}).env.leverage, 2);
  EXPECT_EQ(with({"  env.leverage\t=  2  "}).env.leverage, 2);
  EXPECT_EQ(with({"learn.optimiser = adamw "}).learn.optimiser, "adamw");
}

TEST(ConfigSettings, ArraysAreWrittenAsInToml) {
  EXPECT_EQ(with({"env.exposures=[-1, 0, 0.25]"}).env.exposures, (std::vector<double>{-1, 0, 0.25}));
  EXPECT_EQ(with({"env.order_types=['ioc']"}).env.order_types, std::vector<std::string>{"ioc"});
}

TEST(ConfigSettings, AWholeNumberIsANumber) {
  EXPECT_EQ(with({}, "env.initial_capital = 5000\nenv.exposures = [0, 1]\n").env.initial_capital, 5000.0);
}

TEST(ConfigSettings, RulesOfTheFileDecideTheOtherDefaults) {
  // Named last, and after a key that differs between the rule sets: the default is classic, the named key stays.
  const Config config = with({}, "[env]\nbarrier_stop_bps = 75\nrules = \"classic\"\n");
  EXPECT_EQ(config.env.rules, RuleSet::kClassic);
  EXPECT_EQ(config.env.barrier_stop_bps, 75);
  EXPECT_EQ(config.env.barrier_profit_bps, 100);
  EXPECT_TRUE(config.env.barrier_ends_episode);
  EXPECT_EQ(config.env.diversity_penalty, 0.1);
}

TEST(ConfigSettings, RulesOfASettingStandOverThoseOfTheFile) {
  const Config config = with({"env.rules=market"}, "env.rules = \"classic\"\nenv.risk_weight = 0.25\n");
  EXPECT_EQ(config.env.rules, RuleSet::kMarket);
  EXPECT_EQ(config.env.barrier_profit_bps, 0);
  EXPECT_FALSE(config.env.barrier_ends_episode);
  EXPECT_EQ(config.env.risk_weight, 0.25);
}

TEST(ConfigSettings, TablesAndDottedKeysAreTheSame) {
  EXPECT_EQ(with({}, "[env]\nleverage = 2\n").env.leverage, 2);
  EXPECT_EQ(with({}, "env.leverage = 2\n").env.leverage, 2);
  EXPECT_EQ(with({}, "env = {leverage = 2}\n").env.leverage, 2);
}

TEST(ConfigSettings, AFileIsReadFromDisk) {
  const testing::TempFolder folder;
  testing::put(folder / "mine.toml", "seed = 7\n[learn]\nbatch = 32\n");
  const Config config = load_config(folder / "mine.toml", {"threads=2"});
  EXPECT_EQ(config.seed, 7u);
  EXPECT_EQ(config.learn.batch, 32);
  EXPECT_EQ(config.threads, 2);
}

TEST(ConfigSettings, NamesKeyLooksAtFileAndSettings) {
  const testing::TempFolder folder;
  testing::put(folder / "mine.toml", "[env]\nepisode_length = 500\n");
  EXPECT_TRUE(names_key(folder / "mine.toml", {}, "env.episode_length"));  // though it is the default's value
  EXPECT_FALSE(names_key(folder / "mine.toml", {}, "env.leverage"));
  EXPECT_TRUE(names_key({}, {"seed=1", "env.episode_length = 3"}, "env.episode_length"));
  EXPECT_FALSE(names_key({}, {"seed=1"}, "env.episode_length"));
  EXPECT_FALSE(names_key({}, {}, "env"));
}

}  // namespace
}  // namespace warptape
