#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "unit/backend/cpu/test_worlds.h"
#include "unit/io/temp_folder.h"
#include "warptape/config.h"
#include "warptape/error.h"

namespace warptape {
namespace {

using Values = std::vector<std::pair<std::string, ConfigValue>>;

Values values_of(const Config& config) {
  Values values;
  for (const Key& key : all_keys()) values.emplace_back(key.name, key.get(config));
  return values;
}

Config preset(const std::string& name) {
  return parse_config("", "", {}, name);
}

TEST(Presets, OfTheRuleSetsAreTheirDefaults) {
  EXPECT_EQ(values_of(preset("classic")), values_of(Config::defaults(RuleSet::kClassic)));
  EXPECT_EQ(values_of(preset("market")), values_of(Config::defaults(RuleSet::kMarket)));
}

TEST(Presets, EachNamesItsRulesAndDoesWhatItsSettingsDo) {
  ASSERT_EQ(presets().size(), 3u);
  for (const Preset& p : presets()) {
    ASSERT_FALSE(p.settings.empty()) << p.name;
    EXPECT_TRUE(p.settings.front().starts_with("env.rules=")) << p.name;
    EXPECT_EQ(values_of(preset(p.name)), values_of(parse_config("", "", p.settings))) << p.name;
  }
}

TEST(Presets, FastLearnsInTheWorldOfTheDefaults) {
  const Config fast = preset("fast"), market = Config::defaults(RuleSet::kMarket);
  for (const Key& key : all_keys()) {
    const std::string group = key.name.substr(0, key.name.find('.'));
    const bool learning = group == "net" || group == "collect" || group == "learn" || group == "train";
    if (!learning) {
      EXPECT_EQ(key.get(fast), key.get(market)) << key.name;
    }
  }
  const auto experiences = [](const Config& c) { return c.train.rounds * c.collect.episodes * c.collect.steps; };
  EXPECT_LT(10 * experiences(fast), experiences(market));
  EXPECT_LT(fast.net.shared_0, market.net.shared_0);
}

TEST(Presets, StandUnderTheFileAndThatUnderTheSettings) {
  const Config alone = preset("fast");
  const Config both = parse_config("net.shared_0 = 17\nnet.shared_1 = 18\n", "run.toml", {"net.shared_1=19"}, "fast");
  EXPECT_EQ(both.net.shared_0, 17);
  EXPECT_EQ(both.net.shared_1, 19);
  EXPECT_EQ(both.net.value, alone.net.value);
  EXPECT_EQ(both.train.rounds, alone.train.rounds);
}

TEST(Presets, ForOtherRulesThanTheFilesAreRefused) {
  const auto refusal = [](const char* file, const std::vector<std::string>& settings, const char* name) {
    return testing::message_of<Error>([&] { parse_config(file, "run.toml", settings, name); });
  };
  const std::string of_file = refusal("seed = 2\n[env]\nrules = \"classic\"\n", {}, "fast");
  for (const char* word : {"run.toml:3", "env.rules = \"classic\"", "--preset fast", "\"market\" rules", "leave one"}) {
    EXPECT_NE(of_file.find(word), std::string::npos) << word << ": " << of_file;
  }
  const std::string of_setting = refusal("", {"env.rules=market"}, "classic");
  EXPECT_NE(of_setting.find("--set env.rules=market"), std::string::npos) << of_setting;
  EXPECT_NE(of_setting.find("--preset classic"), std::string::npos) << of_setting;
  // A file under a setting that agrees with the preset still contradicts it.
  EXPECT_NE(refusal("env.rules = \"classic\"", {"env.rules=market"}, "market"), "");
  EXPECT_EQ(refusal("env.rules = \"market\"", {"env.rules=market"}, "fast"), "");
  EXPECT_EQ(refusal("env.rules = \"classic\"", {}, "classic"), "");
}

// ---- what is written reads back equal -------------------------------------------------------------------------------

/// Over the range, of any magnitude where it has no end.
double random_number(const Range& range, cpu_test::Uniform& uniform) {
  if (std::isfinite(range.low) && std::isfinite(range.high)) return range.low + uniform() * (range.high - range.low);
  const double size = std::pow(10.0, 24 * uniform() - 12);
  return std::isfinite(range.low) ? range.low + size : (uniform() < 0.5 ? -size : size);
}

ConfigValue random_value(const Key& key, cpu_test::Uniform& uniform) {
  const auto choice = [&] {
    return key.choices[static_cast<std::size_t>(uniform() * static_cast<double>(key.choices.size()))];
  };
  if (key.type == "boolean") return uniform() < 0.5;
  if (key.type == "integer") return static_cast<std::int64_t>(random_number(key.range, uniform));
  if (key.type == "number") return random_number(key.range, uniform);
  if (key.type == "string") return key.choices.empty() ? std::string("a \"quoted\" \\ text") : choice();
  if (key.type == "array of strings") return std::vector<std::string>{choice()};
  std::vector<double> numbers(1 + static_cast<std::size_t>(4 * uniform()));
  for (double& x : numbers) x = random_number(key.range, uniform);
  return numbers;
}

/// A preset with about every third key changed; keys that must fit together may not.
Config random_config(const Preset& from, cpu_test::Uniform& uniform) {
  Config config = preset(from.name);
  for (const Key& key : all_keys()) {
    if (uniform() > 1.0 / 3) continue;
    try {
      key.set(config, random_value(key, uniform));
    } catch (const Error&) {
      // On the edge of an open range: stays as it was.
    }
  }
  return config;
}

TEST(Presets, WithRandomSettingsReadBackEqualFromWhatIsWritten) {
  cpu_test::Uniform uniform(20);
  int equal = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Config config = random_config(presets()[static_cast<std::size_t>(trial) % presets().size()], uniform);
    config.learn.n_step = std::min(config.learn.n_step, config.collect.steps);
    config.split.train = 0.2 + 0.5 * uniform();
    config.split.validation = 0.01 + 0.25 * uniform();
    config.replay.capacity =
        std::max({config.replay.capacity, config.learn.batch, config.collect.episodes * config.collect.steps});
    if (config.replay.capacity > 2'000'000'000) continue;  // what the key allows
    const std::string written = to_toml(config);
    EXPECT_EQ(values_of(parse_config(written, "config.toml")), values_of(config)) << written;
    // And under the preset that it came from, and written again.
    const std::string rules = rule_set_name(config.env.rules);
    EXPECT_EQ(to_toml(parse_config(written, "config.toml", {}, rules)), written);
    ++equal;
  }
  EXPECT_GT(equal, 300);
}

}  // namespace
}  // namespace warptape
