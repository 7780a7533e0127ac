#include "backtest/play.h"

#include "core/check.h"
#include "env/rules.h"
#include "env/step.h"

namespace warptape {

namespace {

template <typename T>
StepRow make_row(const StepResult<T>& s, const Slot<T>& slot, int action) {
  StepRow row;
  row.action = action;
  row.price = s.price;
  row.next_price = s.next_price;
  row.position = slot.portfolio.position;
  row.traded_position = s.traded_position;
  row.cash = slot.portfolio.cash;
  row.equity = s.equity;
  row.next_equity = s.next_equity;
  row.cost = s.cost;
  row.cumulative_cost = slot.portfolio.cumulative_cost;
  row.entry_price = slot.portfolio.entry;
  row.barrier_upper = slot.barrier.upper;
  row.barrier_lower = slot.barrier.lower;
  row.barrier_label = static_cast<std::int32_t>(s.label);
  row.fill_price = s.fill_price;
  row.reward_return = s.reward.ret;
  row.reward_risk = s.reward.risk;
  row.reward_diversity = s.reward.diversity;
  row.reward = total_reward(s.reward, s.ruin, T(0));
  row.terminal = s.terminal;
  row.truncated = s.truncated;
  return row;
}

template <Rules R>
Trace play_under(const EnvParams& params, const BarView& bars, const PlayOptions& options, const ActionSource& act) {
  using T = Money<R>;
  CHECK(options.first_bar >= 0 && options.first_bar + 1 < bars.count);
  Trace trace;
  trace.initial_capital = params.initial_capital;
  trace.digits = R.float64_money ? 17 : 9;

  Slot<T> slot{};
  slot.bar = static_cast<i32>(options.first_bar);
  slot.last_bar = static_cast<i32>(bars.count - 1);
  begin_episode<R>(params, slot, bars.close[slot.bar]);
  while (slot.bar < slot.last_bar) {
    const std::int64_t bar = slot.bar;
    const int action = act(bar, observe<R>(params, slot.portfolio, static_cast<T>(bars.close[bar])));
    if (action == kNoAction) break;
    CHECK(action >= 0 && action < params.actions.count);
    const StepPrices prices{bars.close[bar], bars.open[bar + 1], bars.high[bar + 1], bars.low[bar + 1],
                            bars.close[bar + 1]};
    const StepResult<T> result = step<R>(params, slot, action, prices);
    StepRow row = make_row(result, slot, action);
    row.bar = bar;
    row.ts_ns = bars.ts_ns[bar];
    trace.rows.push_back(row);
    if (!result.terminal && !result.truncated) continue;
    if (!options.chain || result.ruin) break;
    if constexpr (R.restart_at_random) {
      chain_episode<R>(params, slot, bars.close[slot.bar]);
    } else {
      begin_episode<R>(params, slot, bars.close[slot.bar]);
    }
  }
  return trace;
}

}  // namespace

BarView view_of(const Bars& bars) {
  return {bars.open.data(), bars.high.data(), bars.low.data(), bars.close.data(), bars.ts_ns.data(), bars.size()};
}

BarView view_of(const Dataset& dataset, const Segment& segment) {
  const std::int64_t first = segment.first;
  return {dataset.open.data() + first,  dataset.high.data() + first,  dataset.low.data() + first,
          dataset.close.data() + first, dataset.ts_ns.data() + first, segment.count};
}

Trace play(RuleSet rules, const EnvParams& params, const BarView& bars, const PlayOptions& options,
           const ActionSource& act) {
  return rules == RuleSet::kClassic ? play_under<kClassicRules>(params, bars, options, act)
                                    : play_under<kMarketRules>(params, bars, options, act);
}

}  // namespace warptape
