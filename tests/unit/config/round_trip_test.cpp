#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "warptape/config.h"
#include "warptape/error.h"

namespace warptape {
namespace {

const std::vector<RuleSet> kBothRules = {RuleSet::kClassic, RuleSet::kMarket};

using Values = std::vector<std::pair<std::string, ConfigValue>>;

Values values_of(const Config& config) {
  Values values;
  for (const Key& key : all_keys()) values.emplace_back(key.name, key.get(config));
  return values;
}

/// Values to try in place of a default, most awkward first: 0.1 + 0.02 has no short decimal form.
std::vector<ConfigValue> candidates(const Key& key, const ConfigValue& now) {
  if (key.type == "boolean") return {!std::get<bool>(now)};
  if (key.type == "integer") return {std::get<std::int64_t>(now) + 1};
  if (key.type == "number") return {0.1 + 0.02, 1.0 / 3.0, 1234567.125, 3e-300};
  if (key.type == "array of numbers") return {std::vector<double>{1.0 / 3.0, 0.0, 0.1 + 0.02, 7.0}};
  if (key.type == "array of strings") {
    const auto& texts = std::get<std::vector<std::string>>(now);
    return {std::vector<std::string>(texts.rbegin(), texts.rend())};
  }
  std::vector<ConfigValue> choices(key.choices.begin(), key.choices.end());
  return choices;
}

/// The configuration with this key alone changed; nothing if no candidate is allowed.
std::optional<Config> with_another_value(const Config& config, const Key& key) {
  const ConfigValue before = key.get(config);
  for (const ConfigValue& candidate : candidates(key, before)) {
    Config changed = config;
    try {
      key.set(changed, candidate);
    } catch (const Error&) {
      continue;  // out of this key's range
    }
    if (key.get(changed) == candidate && candidate != before) return changed;
  }
  return std::nullopt;
}

TEST(ConfigRoundTrip, DefaultsReadBackEqual) {
  for (const RuleSet rules : kBothRules) {
    const Config written = Config::defaults(rules);
    EXPECT_EQ(values_of(parse_config(to_toml(written), "written")), values_of(written)) << rule_set_name(rules);
  }
}

TEST(ConfigRoundTrip, EveryKeyReadsBackEqualAfterAChange) {
  for (const RuleSet rules : kBothRules) {
    const Config defaults = Config::defaults(rules);
    for (const Key& key : all_keys()) {
      const std::optional<Config> changed = with_another_value(defaults, key);
      ASSERT_TRUE(changed) << key.name << " has no second value to try";
      EXPECT_NE(values_of(*changed), values_of(defaults)) << key.name;
      EXPECT_EQ(values_of(parse_config(to_toml(*changed), "written")), values_of(*changed)) << key.name;
    }
  }
}

TEST(ConfigRoundTrip, ASettingDoesWhatTheFileDoes) {
  for (const Key& key : all_keys()) {
    const std::optional<Config> changed = with_another_value(Config::defaults(RuleSet::kMarket), key);
    ASSERT_TRUE(changed) << key.name;
    const std::string setting = key.name + "=" + value_text(key.get(*changed));
    // Rules change the defaults of other keys too, so only the key itself is compared.
    EXPECT_EQ(key.get(parse_config("", "", {setting})), key.get(*changed)) << setting;
  }
}

struct Default {
  const char* key;
  ConfigValue classic, market;
};

/// Section 9 of docs/domain.md, by hand.
std::vector<Default> documented_defaults() {
  const auto both = [](const char* key, const ConfigValue& value) { return Default{key, value, value}; };
  const auto integer = [](std::int64_t x) { return ConfigValue(x); };
  const auto texts = [](std::vector<std::string> x) { return ConfigValue(std::move(x)); };
  const auto numbers = [](std::vector<double> x) { return ConfigValue(std::move(x)); };
  return {
      {"env.rules", std::string("classic"), std::string("market")},
      both("env.initial_capital", 100000.0),
      both("env.max_exposure", 1.0),
      both("env.max_position", std::monostate{}),
      both("env.leverage", 1.0),
      both("env.reserve_pct", 0.0),
      both("env.lot_size", 0.0),
      both("env.spread", 0.0001),
      both("env.cost_market", 0.0001),
      both("env.cost_limit_maker", 0.00005),
      both("env.cost_ioc", 0.00015),
      both("env.order_types", texts({"market", "limit_maker", "ioc"})),
      both("env.urgency_cost", numbers({1, 1, 1})),
      both("env.exposures", numbers({-1, -0.5, 0, 0.5, 1})),
      both("env.episode_length", integer(500)),
      {"env.barrier_profit_bps", 100.0, 0.0},
      {"env.barrier_stop_bps", 50.0, 0.0},
      both("env.barrier_max_bars", integer(500)),
      {"env.barrier_ends_episode", true, false},
      {"env.barrier_reward_scale", 1.0, 0.0},
      both("env.diversity_window", integer(100)),
      both("env.diversity_min_bits", 1.0),
      {"env.diversity_penalty", 0.1, 0.0},
      both("env.risk_threshold", 0.8),
      {"env.risk_weight", 0.5, 0.0},
      both("env.curiosity_cap", 0.1),
      {"env.curiosity_weight", 1.0, 0.0},
      both("env.reward_scale", 1.0),
      both("collect.episodes", integer(128)),
      both("collect.steps", integer(500)),
  };
}

const Key& key_named(const std::string& name) {
  for (const Key& key : all_keys()) {
    if (key.name == name) return key;
  }
  throw std::out_of_range("there is no key " + name);
}

TEST(ConfigDefaults, AreThoseOfTheDomain) {
  const Config classic = parse_config("env.rules = \"classic\"", "classic.toml");
  const Config market = parse_config("", "empty.toml");
  for (const Default& expected : documented_defaults()) {
    const Key key = key_named(expected.key);
    EXPECT_EQ(key.get(classic), expected.classic) << key.name << " under classic rules";
    EXPECT_EQ(key.get(market), expected.market) << key.name << " under market rules";
  }
}

TEST(ConfigDefaults, NoWorldKeyIsMissingFromTheTable) {
  std::vector<std::string> declared, documented;
  for (const Key& key : all_keys()) {
    if (key.name.starts_with("env.")) declared.push_back(key.name);
  }
  for (const Default& d : documented_defaults()) {
    if (std::string(d.key).starts_with("env.")) documented.emplace_back(d.key);
  }
  EXPECT_EQ(declared, documented);
}

TEST(ConfigDefaults, KeysThatOtherToolsRelyOnExist) {
  for (const char* name : {"train.rounds", "train.updates_per_round", "train.checkpoint_every", "learn.batch",
                           "learn.gamma", "replay.capacity", "seed"}) {
    EXPECT_EQ(key_named(name).name, name);
  }
}

}  // namespace
}  // namespace warptape
