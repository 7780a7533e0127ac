#include "env/make_params.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/check.h"

namespace warptape {

namespace {

double order_rate(const EnvConfig& config, const std::string& order) {
  if (order == "market") return config.cost_market;
  if (order == "limit_maker") return config.cost_limit_maker;
  CHECK_EQ(order, std::string("ioc"));
  return config.cost_ioc;
}

/// Order type times urgency: classic rules round both and their product to float32.
double cost_rate(const EnvConfig& config, const std::string& order, double multiplier) {
  const double rate = order_rate(config, order);
  if (config.rules == RuleSet::kMarket) return rate * multiplier;
  return static_cast<float>(rate) * static_cast<float>(multiplier);
}

ActionTables make_tables(const EnvConfig& config) {
  ActionTables tables{};
  CHECK_LE(config.exposures.size() * config.order_types.size() * config.urgency_cost.size(), std::size_t{kMaxActions});
  for (const double exposure : config.exposures) {
    for (const std::string& order : config.order_types) {
      for (const double multiplier : config.urgency_cost) {
        tables.exposure[tables.count] = exposure;
        tables.cost_rate[tables.count] = cost_rate(config, order, multiplier);
        tables.category[tables.count] = static_cast<u8>(category_of(exposure));
        ++tables.count;
      }
    }
  }
  return tables;
}

}  // namespace

EnvParams make_params(const EnvConfig& config) {
  EnvParams p{};
  p.initial_capital = config.initial_capital;
  p.max_exposure = config.max_exposure;
  p.max_position = config.max_position.value_or(0.0);
  p.leverage = config.leverage;
  p.reserve_pct = config.reserve_pct;
  p.lot_size = config.lot_size;
  p.spread = config.spread;
  p.exit_cost_rate = config.cost_market;
  p.barrier_profit_bps = config.barrier_profit_bps;
  p.barrier_stop_bps = config.barrier_stop_bps;
  p.barrier_reward_scale = config.barrier_reward_scale;
  p.diversity_min_bits = config.diversity_min_bits;
  p.diversity_penalty = config.diversity_penalty;
  p.risk_threshold = config.risk_threshold;
  p.risk_weight = config.risk_weight;
  p.curiosity_cap = config.curiosity_cap;
  p.curiosity_weight = config.curiosity_weight;
  p.reward_scale = config.reward_scale;
  p.barrier_max_bars = static_cast<i32>(config.barrier_max_bars);
  p.episode_length = static_cast<i32>(config.episode_length);
  p.diversity_window = static_cast<i32>(config.diversity_window);
  p.barrier_ends_episode = config.barrier_ends_episode ? 1 : 0;
  p.actions = make_tables(config);
  for (int c = 1; c <= kMaxDiversityWindow; ++c) p.count_log2_count[c] = c * std::log2(static_cast<double>(c));
  return p;
}

std::string urgency_name(const EnvConfig& config, std::size_t urgency) {
  static constexpr std::array kNames = {"patient", "normal", "aggressive"};
  return config.urgency_cost.size() == kNames.size() ? kNames.at(urgency) : fmt::format("{}", urgency);
}

std::string action_name(const EnvConfig& config, int action) {
  const std::size_t urgencies = config.urgency_cost.size();
  const std::size_t index = static_cast<std::size_t>(action);
  const std::size_t order = index / urgencies % config.order_types.size();
  return fmt::format("exposure {}, {}, {}", config.exposures.at(index / urgencies / config.order_types.size()),
                     config.order_types.at(order), urgency_name(config, index % urgencies));
}

}  // namespace warptape
