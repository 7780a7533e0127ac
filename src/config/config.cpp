#include "warptape/config.h"

#include <algorithm>
#include <map>

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "config/keys.h"
#include "config/nearest.h"
#include "env/actions.h"
#include "io/input_file.h"
#include "warptape/error.h"

namespace warptape {

namespace {

/// Where a value was written, for messages: "run.toml:12" or "--set".
struct Assignment {
  std::string key;
  ConfigValue value;
  std::string where;
};

const Key& find_key(const std::string& name, const std::string& where) {
  const std::vector<Key>& keys = all_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == name; });
  if (found != keys.end()) return *found;
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  fail("{}: there is no configuration key {}; the nearest is {} (warptape config lists them all)", where, name,
       nearest_name(name, names));
}

const Preset& find_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  fail("--preset {}: there is no such preset; the nearest is {} (choose one of {})", name, nearest_name(name, names),
       fmt::join(names, ", "));
}

ConfigValue array_value(const toml::array& array, const std::string& key, const std::string& where) {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const toml::node& node : array) {
    if (node.is_string()) {
      texts.push_back(node.value<std::string>().value());
    } else if (node.is_number()) {
      numbers.push_back(node.value<double>().value());
    } else {
      fail("{}: {}: an array holds numbers or strings", where, key);
    }
  }
  if (!texts.empty() && !numbers.empty())
    fail("{}: {}: an array holds either numbers or strings, not both", where, key);
  if (texts.empty()) return numbers;
  return texts;
}

ConfigValue node_value(const toml::node& node, const std::string& key, const std::string& where) {
  if (node.is_boolean()) return node.value<bool>().value();
  if (node.is_integer()) return node.value<std::int64_t>().value();
  if (node.is_floating_point()) return node.value<double>().value();
  if (node.is_string()) return node.value<std::string>().value();
  if (const toml::array* array = node.as_array()) return array_value(*array, key, where);
  fail("{}: {}: tables, dates and times are not values of any key", where, key);
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& origin,
             std::vector<Assignment>& out) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, key + ".", origin, out);
      continue;
    }
    const std::string where = fmt::format("{}:{}", origin, node.source().begin.line);
    out.push_back({key, node_value(node, key, where), where});
  }
}

std::vector<Assignment> read_toml(std::string_view text, const std::string& origin) {
  std::vector<Assignment> assignments;
  try {
    flatten(toml::parse(text, origin), "", origin, assignments);
  } catch (const toml::parse_error& e) {
    fail("{}:{}: not TOML: {}", origin, e.source().begin.line, e.description());
  }
  return assignments;
}

std::string trim(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Assignment read_setting(const std::string& setting) {
  const std::string where = "--set " + setting;
  const std::size_t equals = setting.find('=');
  const std::string key = trim(setting.substr(0, equals));
  if (equals == std::string::npos || key.empty()) {
    fail("{}: write key=value, for example --set env.leverage=2", where);
  }
  const std::string text = trim(setting.substr(equals + 1));
  const Key& declared = find_key(key, where);
  // A line break would smuggle in a second key, which nobody would look at.
  if (text.find('\n') != std::string::npos) fail("{}: a value is one line", where);
  try {
    const toml::table table = toml::parse("value = " + text);
    return {key, node_value(*table.get("value"), key, where), where};
  } catch (const toml::parse_error&) {
    if (declared.type != "string") {
      fail("{}: '{}' is not a TOML value ({} is wanted)", where, text, with_article(declared.type));
    }
    return {key, text, where};
  }
}

void assign(Config& config, const Assignment& a) {
  const Key& key = find_key(a.key, a.where);
  if (std::holds_alternative<std::vector<double>>(a.value) && std::get<std::vector<double>>(a.value).empty()) {
    fail("{}: {}: an empty array", a.where, a.key);
  }
  try {
    key.set(config, a.value);
  } catch (const Error& e) {
    fail("{}: {}: {} ({}; allowed: {})", a.where, a.key, e.what(), key.type, range_text(key));
  }
}

template <typename T>
void check_distinct(const std::vector<T>& values, const char* key) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      if (values[i] == values[j]) fail("{}: {} is listed twice", key, values[i]);
    }
  }
}

void check_together(const Config& c) {
  check_distinct(c.env.exposures, "env.exposures");
  check_distinct(c.env.order_types, "env.order_types");
  const std::size_t actions = c.env.exposures.size() * c.env.order_types.size() * c.env.urgency_cost.size();
  if (actions > std::size_t{kMaxActions}) {
    fail("env.exposures × env.order_types × env.urgency_cost make {} actions; at most {} are possible", actions,
         kMaxActions);
  }
  if (c.split.train + c.split.validation >= 1.0) {
    fail("split.train + split.validation = {}; leave something for the test split (under 1)",
         c.split.train + c.split.validation);
  }
  if (c.learn.batch > c.replay.capacity) {
    fail("learn.batch = {} is larger than replay.capacity = {}", c.learn.batch, c.replay.capacity);
  }
  if (c.collect.episodes * c.collect.steps > c.replay.capacity) {
    fail("a round makes collect.episodes × collect.steps = {} experiences, more than replay.capacity = {} holds",
         c.collect.episodes * c.collect.steps, c.replay.capacity);
  }
  if (c.learn.n_step > c.collect.steps) {
    fail("learn.n_step = {} is more than collect.steps = {}: the first round would hold no whole return",
         c.learn.n_step, c.collect.steps);
  }
}

/// The rule set decides the other defaults, so it is looked for first.
RuleSet rules_of(const std::vector<Assignment>& assignments, const Preset* preset) {
  RuleSet rules = RuleSet::kMarket;
  const Assignment* first = nullptr;
  for (const Assignment& a : assignments) {
    if (a.key != "env.rules") continue;
    Config probe;
    assign(probe, a);
    if (first == nullptr) first = &a;
    // Taking either side would leave values of the other's world behind.
    if (preset != nullptr && a.value != first->value) {
      fail("{}: env.rules = {} contradicts --preset {}, which is for {} rules; leave one of the two out", a.where,
           value_text(a.value), preset->name, value_text(first->value));
    }
    rules = probe.env.rules;
  }
  return rules;
}

Config configured(const std::vector<Assignment>& assignments, const Preset* preset) {
  Config config = Config::defaults(rules_of(assignments, preset));
  for (const Assignment& a : assignments) assign(config, a);
  check_together(config);
  return config;
}

}  // namespace

Config Config::defaults(RuleSet rules) {
  Config config;
  config.env.rules = rules;
  if (rules == RuleSet::kClassic) {
    config.env.barrier_profit_bps = 100;
    config.env.barrier_stop_bps = 50;
    config.env.barrier_ends_episode = true;
    config.env.barrier_reward_scale = 1.0;
    config.env.diversity_penalty = 0.1;
    config.env.risk_weight = 0.5;
    config.env.curiosity_weight = 1.0;
  }
  return config;
}

std::vector<KeyDoc> config_keys() {
  const Config classic = Config::defaults(RuleSet::kClassic);
  const Config market = Config::defaults(RuleSet::kMarket);
  std::vector<KeyDoc> docs;
  for (const Key& key : all_keys()) {
    // env.rules itself has one default, not one per rule set.
    const ConfigValue of_classic = key.name == "env.rules" ? key.get(market) : key.get(classic);
    docs.push_back(
        {key.name, key.type, value_text(of_classic), value_text(key.get(market)), range_text(key), key.unit, key.help});
  }
  return docs;
}

Config parse_config(std::string_view toml_text, const std::string& origin, const std::vector<std::string>& settings,
                    const std::optional<std::string>& preset) {
  const Preset* chosen = preset ? &find_preset(*preset) : nullptr;
  std::vector<Assignment> assignments;
  if (chosen != nullptr) {
    for (const std::string& setting : chosen->settings) assignments.push_back(read_setting(setting));
  }
  for (Assignment& a : read_toml(toml_text, origin)) assignments.push_back(std::move(a));
  for (const std::string& setting : settings) assignments.push_back(read_setting(setting));
  return configured(assignments, chosen);
}

Config load_config(const std::optional<std::filesystem::path>& file, const std::vector<std::string>& settings,
                   const std::optional<std::string>& preset) {
  return file ? parse_config(read_file(*file), file->string(), settings, preset)
              : parse_config("", "", settings, preset);
}

std::string to_toml(const Config& config) {
  std::map<std::string, std::string> tables;  // by table name; "" first, as TOML wants it
  std::vector<std::string> order = {""};
  for (const Key& key : all_keys()) {
    const ConfigValue value = key.get(config);
    if (std::holds_alternative<std::monostate>(value)) continue;
    const std::size_t dot = key.name.rfind('.');
    const std::string table = dot == std::string::npos ? "" : key.name.substr(0, dot);
    if (std::find(order.begin(), order.end(), table) == order.end()) order.push_back(table);
    tables[table] +=
        fmt::format("{} = {}\n", key.name.substr(dot == std::string::npos ? 0 : dot + 1), value_text(value));
  }
  std::string text = tables[""];
  for (const std::string& table : order) {
    if (!table.empty()) text += fmt::format("\n[{}]\n{}", table, tables[table]);
  }
  return text;
}

bool names_key(const std::optional<std::filesystem::path>& file, const std::vector<std::string>& settings,
               std::string_view key) {
  std::vector<Assignment> assignments;
  if (file) assignments = read_toml(read_file(*file), file->string());
  for (const std::string& setting : settings) assignments.push_back(read_setting(setting));
  return std::any_of(assignments.begin(), assignments.end(), [&](const Assignment& a) { return a.key == key; });
}

const char* rule_set_name(RuleSet rules) {
  return rules == RuleSet::kClassic ? "classic" : "market";
}

}  // namespace warptape
