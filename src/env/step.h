// One step of the world: trade, barrier, diversity, mark to market, reward, end of episode (docs/domain.md, sections 4
// and 7). Host and device compile this one text; training, back-test and `simulate` call it.
#pragma once

#include "core/hd.h"
#include "core/philox.h"
#include "env/actions.h"
#include "env/barrier.h"
#include "env/diversity.h"
#include "env/observe.h"
#include "env/params.h"
#include "env/portfolio.h"
#include "env/reward.h"
#include "env/rules.h"

namespace warptape {

/// Prices that a step at bar b needs: its close, and the coming bar.
struct StepPrices {
  double close;
  double next_open, next_high, next_low, next_close;
};

/// What a slot (one episode's place in the batch) keeps from step to step and from round to round.
template <typename T>
struct Slot {
  Portfolio<T> portfolio;
  Barrier<T> barrier;
  u64 episode;   // counts this slot's episodes: the key of its next start
  i32 bar;       // dataset row at which the next step acts; past last_bar: the classic rows of zeros
  i32 last_bar;  // last row of the segment: no step acts there
  i32 steps;     // taken in this episode
  u32 lcg;       // state of the classic generator
  Diversity diversity;
  u32 unused;  // no padding: checkpoints hold the bytes
};
static_assert(sizeof(Slot<double>) == 176 && sizeof(Slot<float>) == 144);

/// What one step did.
template <typename T>
struct StepResult {
  T price, next_price;
  T equity;           // before the trade, at price
  T next_equity;      // at next_price, an exit fill included
  T cost;             // of the trade and of the exit fill
  T traded_position;  // after the trade, before a fill
  T fill_price;       // 0: no barrier was filled
  Reward<T> reward;
  Label label;
  bool ruin;
  bool terminal;   // no bootstrap
  bool truncated;  // bootstraps from the true next state
};

/// A fresh portfolio, barrier and ring at a bar whose close is `price`.
template <Rules R>
HD void begin_episode(const EnvParams& params, Slot<Money<R>>& slot, double price) {
  using T = Money<R>;
  const T capital = static_cast<T>(params.initial_capital);
  slot.portfolio = {capital, T(0), T(0), T(0), capital, cap_of(params, capital, static_cast<T>(price))};
  slot.barrier = {};
  slot.diversity = empty_diversity();
  slot.steps = 0;
  ++slot.episode;
}

/// The next episode of a chain: the equity becomes the base, the cap is fixed anew, everything held goes on.
template <Rules R>
HD void chain_episode(const EnvParams& params, Slot<Money<R>>& slot, double price) {
  using T = Money<R>;
  slot.portfolio.base = equity_at(slot.portfolio, static_cast<T>(price));
  slot.portfolio.cap = cap_of(params, slot.portfolio.base, static_cast<T>(price));
  slot.steps = 0;
  ++slot.episode;
}

/// The barrier's part of a step under market rules: a touched order closes the position inside the coming bar.
template <Rules R>
HD Fill<Money<R>> fill_resting(const EnvParams& params, Slot<Money<R>>& slot, const StepPrices& px, Money<R>& cost) {
  using T = Money<R>;
  Portfolio<T>& f = slot.portfolio;
  if (f.position == 0) return {Label::kNone, T(0)};
  const bool watched = params.barrier_max_bars == 0 || slot.bar + 1 <= slot.barrier.last_bar;
  const Fill<T> fill = check_resting(slot.barrier, f.position > 0, watched, static_cast<T>(px.next_open),
                                     static_cast<T>(px.next_high), static_cast<T>(px.next_low));
  if (fill.label == Label::kNone) return fill;
  const T exit_cost = abs_of(f.position) * fill.price * static_cast<T>(params.exit_cost_rate);
  f.cash += f.position * fill.price - exit_cost;
  f.position = 0;
  f.entry = 0;
  f.cumulative_cost += exit_cost;
  slot.barrier = {};
  cost += exit_cost;
  return fill;
}

/// Takes `action` at slot.bar and moves the slot to the next bar. When the result is terminal or truncated, the caller
/// observes the true next state first and then begins or chains an episode: the slot's state advances last.
template <Rules R>
HD StepResult<Money<R>> step(const EnvParams& params, Slot<Money<R>>& slot, int action, const StepPrices& px) {
  using T = Money<R>;
  Portfolio<T>& f = slot.portfolio;
  StepResult<T> out{};
  out.price = static_cast<T>(px.close);
  out.next_price = static_cast<T>(px.next_close);
  out.equity = equity_at(f, out.price);
  const T position_before = f.position;

  const T target = static_cast<T>(params.actions.exposure[action]) * f.cap;
  out.cost =
      trade<R>(params, f, slot.barrier, target, static_cast<T>(params.actions.cost_rate[action]), out.price, slot.bar);
  out.traded_position = f.position;
  out.reward.risk = risk_term(params, R.risk_after_trade ? f.position : position_before, out.price, f.base);

  if constexpr (R.resting_exits) {
    const Fill<T> fill = fill_resting<R>(params, slot, px, out.cost);
    out.label = fill.label;
    out.fill_price = fill.price;
  } else if (!is_flat<R>(f.position)) {
    out.label = check_on_close(slot.barrier, out.price, slot.bar);
  }

  push_category(slot.diversity, static_cast<Category>(params.actions.category[action]), params.diversity_window);
  out.reward.diversity =
      lacks_diversity(slot.diversity, params) ? T(0) - static_cast<T>(params.diversity_penalty) : T(0);

  out.next_equity = equity_at(f, out.next_price);
  out.reward.ret = return_term(params, out.equity, out.next_equity, out.label);
  out.ruin = R.ruin_ends && !(out.next_equity > 0);
  if (out.ruin) out.reward = {T(0) - static_cast<T>(params.reward_scale), T(0), T(0)};

  ++slot.bar;
  ++slot.steps;
  const bool label_ends = params.barrier_ends_episode != 0 && out.label != Label::kNone;
  const bool limit = slot.steps == params.episode_length || slot.bar >= slot.last_bar;
  out.terminal = out.ruin || label_ends || (limit && !R.limits_truncate);
  out.truncated = limit && !out.terminal;
  return out;
}

/// The classic generator: x·1664525 + 1013904223, u = (x & 0x7FFFFF)/0x7FFFFF in float32, so u may be 1.
HD float classic_uniform(u32& x) {
  x = x * 1664525u + 1013904223u;
  return static_cast<float>(x & 0x7FFFFFu) / static_cast<float>(0x7FFFFF);
}

/// The action of a step: with probability epsilon uniform over the A actions, else `greedy`.
template <Rules R>
HD int explore(Slot<Money<R>>& slot, u64 seed, u32 slot_index, u64 global_step, double epsilon, int actions,
               int greedy) {
  if constexpr (R.lcg_random) {
    if (!(classic_uniform(slot.lcg) < static_cast<float>(epsilon))) return greedy;
    return static_cast<int>(classic_uniform(slot.lcg) * static_cast<float>(actions)) % actions;
  } else {
    const Philox4 words = random_words(seed, slot_index, global_step, Draw::kExplore);
    if (!(unit_interval(words.word[0]) < epsilon)) return greedy;
    return static_cast<int>(below(words.word[1], static_cast<u32>(actions)));
  }
}

}  // namespace warptape
