#include "config/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

#include "core/check.h"
#include "env/params.h"
#include "warptape/error.h"

namespace warptape {

namespace {

template <typename T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t>) return "integer";
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) return "number";
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, RuleSet>) return "string";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "array of numbers";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "array of strings";
}

template <typename T>
ConfigValue to_value(const T& field) {
  if constexpr (std::is_same_v<T, RuleSet>) {
    return std::string(rule_set_name(field));
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return field ? ConfigValue(*field) : ConfigValue(std::monostate{});
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(field);
  } else {
    return field;
  }
}

[[noreturn]] void wrong_type(const char* wanted, const ConfigValue& value) {
  // The shortest form of 5.0 is "5", and "5 is not an integer" would mislead.
  const auto* number = std::get_if<double>(&value);
  const bool looks_whole = number && std::trunc(*number) == *number && std::fabs(*number) < 1e15;
  fail("{} is not {}", looks_whole ? fmt::format("{:.1f}", *number) : value_text(value), with_article(wanted));
}

template <typename T>
T from_value(const ConfigValue& value) {
  if constexpr (std::is_same_v<T, RuleSet>) {
    if (const auto* name = std::get_if<std::string>(&value)) {
      return *name == "classic" ? RuleSet::kClassic : RuleSet::kMarket;
    }
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&value)) return *number;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<std::uint64_t>(*integer);
  } else {
    if (const auto* same = std::get_if<T>(&value)) return *same;
  }
  wrong_type(type_name<T>(), value);
}

void check_number(const Range& range, double x) {
  const bool low_ok = range.above_low ? x > range.low : x >= range.low;
  if (std::isfinite(x) && low_ok && x <= range.high) return;
  fail("{} is out of range", x);
}

void check_range(const Key& key, const ConfigValue& value) {
  const auto check_choice = [&](const std::string& s) {
    if (key.choices.empty()) return;
    for (const std::string& choice : key.choices) {
      if (choice == s) return;
    }
    fail("\"{}\" is not one of the choices", s);
  };
  if (const auto* number = std::get_if<double>(&value)) check_number(key.range, *number);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) check_number(key.range, static_cast<double>(*integer));
  if (const auto* text = std::get_if<std::string>(&value)) check_choice(*text);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    if (numbers->empty()) fail("an empty array");
    for (const double x : *numbers) check_number(key.range, x);
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    if (texts->empty()) fail("an empty array");
    for (const std::string& s : *texts) check_choice(s);
  }
}

class Declarations {
 public:
  template <typename Access>
  void add(const char* name, Access access, Range range, const char* unit, const char* help,
           std::vector<std::string> choices = {}) {
    using T = std::remove_reference_t<decltype(access(std::declval<Config&>()))>;
    Key key;
    key.name = name;
    key.type = type_name<T>();
    key.range = range;
    key.choices = std::move(choices);
    key.unit = unit;
    key.help = help;
    key.get = [access](const Config& c) { return to_value<T>(access(const_cast<Config&>(c))); };
    const Key copy = key;
    key.set = [access, copy](Config& c, const ConfigValue& value) {
      const ConfigValue typed = to_value<T>(from_value<T>(value));
      check_range(copy, std::is_same_v<T, RuleSet> ? value : typed);
      access(c) = from_value<T>(value);
    };
    keys.push_back(std::move(key));
  }

  std::vector<Key> keys;
};

constexpr Range kAny{};
constexpr Range kPositive{0, std::numeric_limits<double>::infinity(), true};
constexpr Range kNotNegative{0, std::numeric_limits<double>::infinity(), false};
constexpr Range kFraction{0, 1, false};
constexpr Range kCount{1, 1e9, false};
constexpr Range kWidth{1, 4096, false};

#define AT(path)            \
  [](Config & c) -> auto& { \
    return c.path;          \
  }

void declare_env(Declarations& d) {
  d.add("env.rules", AT(env.rules), kAny, "", "the rule set: what differs is listed in docs/domain.md, section 7",
        {"classic", "market"});
  d.add("env.initial_capital", AT(env.initial_capital), kPositive, "currency",
        "equity that a fresh episode starts with");
  d.add("env.max_exposure", AT(env.max_exposure), kPositive, "of the base",
        "position cap as a multiple of the base equity");
  d.add("env.max_position", AT(env.max_position), kPositive, "units",
        "position cap in units; takes the place of max_exposure");
  d.add("env.leverage", AT(env.leverage), kPositive, "times equity", "buying power (market rules)");
  d.add("env.reserve_pct", AT(env.reserve_pct), {0, 100, false}, "% of equity", "cash that a trade may not touch");
  d.add("env.lot_size", AT(env.lot_size), kNotNegative, "units",
        "positions are whole multiples of it; 0: fractional (market rules)");
  d.add("env.spread", AT(env.spread), kNotNegative, "of the price",
        "third portfolio number of the state under classic rules");
  d.add("env.cost_market", AT(env.cost_market), {0, 0.5, false}, "of the notional",
        "cost rate of market orders and of barrier fills");
  d.add("env.cost_limit_maker", AT(env.cost_limit_maker), {0, 0.5, false}, "of the notional",
        "cost rate of limit-maker orders");
  d.add("env.cost_ioc", AT(env.cost_ioc), {0, 0.5, false}, "of the notional",
        "cost rate of immediate-or-cancel orders");
  d.add("env.order_types", AT(env.order_types), kAny, "",
        "order types to choose from; every order fills at once, so the cheapest dominates",
        {"market", "limit_maker", "ioc"});
  d.add("env.urgency_cost", AT(env.urgency_cost), {0, 100, false}, "times the rate",
        "cost multiplier of each urgency: patient, normal, aggressive");
  d.add("env.exposures", AT(env.exposures), {-100, 100, false}, "of the cap", "target exposures to choose from");
  d.add("env.episode_length", AT(env.episode_length), kCount, "steps", "an episode ends after so many steps");
  d.add("env.barrier_profit_bps", AT(env.barrier_profit_bps), {0, 9999, false}, "bps of the entry price",
        "profit target; 0: off (market rules)");
  d.add("env.barrier_stop_bps", AT(env.barrier_stop_bps), {0, 9999, false}, "bps of the entry price",
        "stop loss; 0: off (market rules)");
  d.add("env.barrier_max_bars", AT(env.barrier_max_bars), {0, 1e9, false}, "bars",
        "barriers are watched for so long; 0: always (market rules)");
  d.add("env.barrier_ends_episode", AT(env.barrier_ends_episode), kAny, "",
        "a stop or profit label ends the episode, without bootstrap");
  d.add("env.barrier_reward_scale", AT(env.barrier_reward_scale), {0, 2, false}, "",
        "weight of the label in the return term");
  d.add("env.diversity_window", AT(env.diversity_window), {3, kMaxDiversityWindow, false}, "steps",
        "actions that the diversity term looks back on");
  d.add("env.diversity_min_bits", AT(env.diversity_min_bits), {0, 1.585, false}, "bits",
        "entropy under which the penalty applies");
  d.add("env.diversity_penalty", AT(env.diversity_penalty), kNotNegative, "reward",
        "penalty of a window without diversity");
  d.add("env.risk_threshold", AT(env.risk_threshold), kNotNegative, "of the base",
        "|exposure| above which the risk penalty grows");
  d.add("env.risk_weight", AT(env.risk_weight), kNotNegative, "reward",
        "penalty per unit of |exposure| above the threshold");
  d.add("env.curiosity_cap", AT(env.curiosity_cap), kNotNegative, "squared deviations",
        "largest curiosity bonus before its weight");
  d.add("env.curiosity_weight", AT(env.curiosity_weight), kNotNegative, "",
        "weight of the curiosity bonus; 0: no curiosity");
  d.add("env.reward_scale", AT(env.reward_scale), kPositive, "", "multiplies the return term; ruin costs as much");
}

void declare_data(Declarations& d) {
  d.add("data.sort", AT(data.sort), kAny, "", "put rows in time order instead of refusing the file");
  d.add("data.on_duplicate", AT(data.on_duplicate), kAny, "", "what to do with repeated times",
        {"refuse", "keep-last"});
  d.add("features.normalise", AT(features.normalise), kAny, "",
        "standardise each feature by the training split's mean and deviation");
  d.add("features.clip", AT(features.clip), kPositive, "deviations",
        "normalised features are clipped to plus and minus this");
  d.add("split.train", AT(split.train), {0.01, 0.98, false}, "of the bars", "training split, first in time");
  d.add("split.validation", AT(split.validation), {0.01, 0.98, false}, "of the bars",
        "validation split, after it; the test split is the rest");
  d.add("split.embargo", AT(split.embargo), {0, 1e6, false}, "bars",
        "bars left out between splits; at least the longest look-back");
}

void declare_learning(Declarations& d) {
  d.add("net.shared_0", AT(net.shared_0), kWidth, "units", "width of the first shared layer");
  d.add("net.shared_1", AT(net.shared_1), kWidth, "units", "width of the second shared layer");
  d.add("net.value", AT(net.value), kWidth, "units", "width of the value stream");
  d.add("net.advantage", AT(net.advantage), kWidth, "units", "width of the advantage stream");
  d.add("net.curiosity", AT(net.curiosity), kWidth, "units", "width of the curiosity model");
  d.add("collect.episodes", AT(collect.episodes), {1, 262144, false}, "episodes", "parallel episodes in a round");
  d.add("collect.steps", AT(collect.steps), {1, 1e6, false}, "steps", "steps of each episode in a round");
  d.add("collect.epsilon_start", AT(collect.epsilon_start), kFraction, "probability", "exploration in the first round");
  d.add("collect.epsilon_end", AT(collect.epsilon_end), kFraction, "probability", "exploration after the decay");
  d.add("collect.epsilon_decay", AT(collect.epsilon_decay), kFraction, "of train.rounds",
        "part of the training over which epsilon falls, linearly");
  d.add("collect.precision", AT(collect.precision), kAny, "",
        "operands of the networks' products while collecting; bfloat16 is faster, where the processor has it",
        {"float32", "bfloat16"});
  d.add("replay.capacity", AT(replay.capacity), {1, 2e9, false}, "experiences", "size of the replay ring");
  d.add("replay.prioritised", AT(replay.prioritised), kAny, "",
        "draw experiences by their TD errors instead of uniformly");
  d.add("replay.alpha", AT(replay.alpha), kFraction, "",
        "an experience is drawn in proportion to (size of the TD error + epsilon)^alpha; 0: uniformly (prioritised)");
  d.add("replay.beta_start", AT(replay.beta_start), kFraction, "",
        "exponent of the importance weights at the beginning (prioritised)");
  d.add("replay.beta_end", AT(replay.beta_end), kFraction, "",
        "exponent of the importance weights at the end of the training; linear between (prioritised)");
  d.add("replay.epsilon", AT(replay.epsilon), {0, 1e6, true}, "reward",
        "added to the size of a TD error, so that no experience is lost (prioritised)");
  d.add("learn.batch", AT(learn.batch), {1, 65536, false}, "experiences", "batch of one update");
  d.add("learn.gamma", AT(learn.gamma), kFraction, "", "discount factor");
  d.add("learn.n_step", AT(learn.n_step), {1, 1000, false}, "steps",
        "rewards that a target adds up before it bootstraps; at most collect.steps");
  d.add("learn.learning_rate", AT(learn.learning_rate), kPositive, "", "learning rate at the beginning");
  d.add("learn.learning_rate_end", AT(learn.learning_rate_end), kPositive, "",
        "learning rate at the end of the training; linear between");
  d.add("learn.optimiser", AT(learn.optimiser), kAny, "", "optimiser", {"adam", "adamw"});
  d.add("learn.beta1", AT(learn.beta1), {0, 0.999999, false}, "", "decay of Adam's first moment");
  d.add("learn.beta2", AT(learn.beta2), {0, 0.9999999, false}, "", "decay of Adam's second moment");
  d.add("learn.epsilon", AT(learn.epsilon), kPositive, "", "Adam's denominator is the root plus this");
  d.add("learn.weight_decay", AT(learn.weight_decay), kNotNegative, "",
        "decoupled weight decay: an update scales weights by 1 - learning rate * this (adamw)");
  d.add("learn.clip_norm", AT(learn.clip_norm), kPositive, "", "largest global norm of the gradient");
  d.add("learn.huber_delta", AT(learn.huber_delta), kPositive, "reward", "where the Huber loss turns linear");
  d.add("learn.target_sync", AT(learn.target_sync), kAny, "", "how the target network follows", {"polyak", "hard"});
  d.add("learn.target_every", AT(learn.target_every), kCount, "updates", "updates between hard syncs");
  d.add("learn.tau", AT(learn.tau), {0, 1, true}, "", "Polyak step of every update");
  d.add("curiosity.every", AT(curiosity.every), kCount, "rounds", "rounds between curiosity trainings");
  d.add("curiosity.batches", AT(curiosity.batches), kCount, "batches", "batches of one curiosity training");
  d.add("curiosity.batch", AT(curiosity.batch), {1, 65536, false}, "experiences", "batch of a curiosity update");
  d.add("curiosity.learning_rate", AT(curiosity.learning_rate), kPositive, "",
        "learning rate of the curiosity model (Adam)");
  d.add("train.rounds", AT(train.rounds), kCount, "rounds", "collect and learn so many times");
  d.add("train.updates_per_round", AT(train.updates_per_round), {0, 1e9, false}, "updates",
        "updates after each collection");
  d.add("train.evaluate_every", AT(train.evaluate_every), kCount, "rounds",
        "rounds between evaluations on the validation split");
  d.add("train.checkpoint_every", AT(train.checkpoint_every), kCount, "rounds", "rounds between checkpoints");
  d.add("train.divergence_q", AT(train.divergence_q), kPositive, "reward",
        "mean |Q| above which training stops as diverged");
  d.add("train.early_stop", AT(train.early_stop), {0, 1e9, false}, "evaluations",
        "training stops after so many without a new best validation return; 0: off");
  d.add("train.alarms", AT(train.alarms), kAny, "", "warn of exploding Q-values and of a policy with one action");
  d.add("train.tensorboard", AT(train.tensorboard), kAny, "", "write event files for TensorBoard into tensorboard/");
  d.add("seed", AT(seed), {0, 9.2e18, false}, "", "key of every random number");
  d.add("threads", AT(threads), {0, 4096, false}, "threads",
        "worker threads; 0: one per processor; results do not depend on it");
}

#undef AT

}  // namespace

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = [] {
    Declarations d;
    declare_env(d);
    declare_data(d);
    declare_learning(d);
    return d.keys;
  }();
  return keys;
}

std::string with_article(const std::string& type) {
  return fmt::format("{} {}", type.starts_with('i') || type.starts_with('a') ? "an" : "a", type);
}

std::string value_text(const ConfigValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "unset"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return fmt::format("{}", i); }
    std::string operator()(double x) const { return fmt::format("{}", x); }
    std::string operator()(const std::string& s) const { return fmt::format("\"{}\"", s); }
    std::string operator()(const std::vector<double>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const std::vector<std::string>& v) const {
      return v.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(v, "\", \""));
    }
  };
  return std::visit(Visitor{}, value);
}

std::string range_text(const Key& key) {
  if (!key.choices.empty()) return fmt::format("{}", fmt::join(key.choices, ", "));
  const bool low = std::isfinite(key.range.low);
  const bool high = std::isfinite(key.range.high);
  if (key.type == "boolean") return "true, false";
  if (low && high) return fmt::format("{}{} to {}", key.range.above_low ? "above " : "", key.range.low, key.range.high);
  if (low) return fmt::format("{} {}", key.range.above_low ? ">" : ">=", key.range.low);
  return "any";
}

}  // namespace warptape
