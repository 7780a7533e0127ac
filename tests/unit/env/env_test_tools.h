// What the tests of env/ share: a world of one slot that is driven by hand.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>
#include <vector>

#include "env/make_params.h"
#include "env/step.h"
#include "warptape/config.h"

namespace warptape::env_test {

struct PriceBar {
  double open, high, low, close;
};

/// Bars that trade at one price each.
inline std::vector<PriceBar> closes(std::initializer_list<double> prices) {
  std::vector<PriceBar> bars;
  for (const double p : prices) bars.push_back({p, p, p, p});
  return bars;
}

/// Capital 1000, one order type that costs nothing, no barriers, no shaping, no episode limit: each test adds what it
/// is about. The actions are the exposures.
inline EnvConfig plain_config(RuleSet rules) {
  EnvConfig c = Config::defaults(rules).env;
  c.initial_capital = 1000;
  c.cost_market = 0;
  c.order_types = {"market"};
  c.urgency_cost = {1};
  c.episode_length = 1000;
  c.barrier_profit_bps = rules == RuleSet::kClassic ? 9999 : 0;  // classic 0 fires at once: as far off as it goes
  c.barrier_stop_bps = rules == RuleSet::kClassic ? 9999 : 0;
  c.barrier_max_bars = 1000;
  c.barrier_ends_episode = false;
  c.barrier_reward_scale = 0;
  c.diversity_penalty = 0;
  c.risk_weight = 0;
  c.curiosity_weight = 0;
  return c;
}
inline EnvConfig plain_classic() {
  return plain_config(RuleSet::kClassic);
}
inline EnvConfig plain_market() {
  return plain_config(RuleSet::kMarket);
}

/// One slot on its way through bars, from bar 0.
template <Rules R>
class World {
 public:
  using T = Money<R>;

  World(const EnvConfig& config, std::vector<PriceBar> bars) : params(make_params(config)), bars_(std::move(bars)) {
    slot.last_bar = static_cast<i32>(bars_.size()) - 1;
    begin_episode<R>(params, slot, bars_.at(0).close);
  }

  /// One step toward the action whose exposure this is.
  StepResult<T> to(double exposure) {
    const double* first = params.actions.exposure;
    const double* found = std::find(first, first + params.actions.count, exposure);
    if (found == first + params.actions.count) throw std::invalid_argument("no action has this exposure");
    return act(static_cast<int>(found - first));
  }

  StepResult<T> act(int action) {
    const PriceBar& now = bars_.at(static_cast<std::size_t>(slot.bar));
    const PriceBar& next = bars_.at(static_cast<std::size_t>(slot.bar) + 1);
    return step<R>(params, slot, action, {now.close, next.open, next.high, next.low, next.close});
  }

  T cash() const { return slot.portfolio.cash; }
  T position() const { return slot.portfolio.position; }
  T entry() const { return slot.portfolio.entry; }
  T upper() const { return slot.barrier.upper; }
  T lower() const { return slot.barrier.lower; }

  EnvParams params;
  Slot<T> slot{};

 private:
  std::vector<PriceBar> bars_;
};

using ClassicWorld = World<kClassicRules>;
using MarketWorld = World<kMarketRules>;

}  // namespace warptape::env_test
