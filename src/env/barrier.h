// The triple barrier of the open position: profit target, stop loss, time limit (docs/domain.md, sections 4.3 and 7).
#pragma once

#include "core/hd.h"
#include "env/params.h"
#include "env/rules.h"

namespace warptape {

/// All zeros when off, flat or cleared.
template <typename T>
struct Barrier {
  T upper;  // prices as they lie, whichever is the stop
  T lower;
  i32 last_bar;  // classic: expires when bar >= last_bar; market: the last bar watched
  i32 resolved;  // classic: hit or expired, no more labels for this position
};

enum class Label : i32 { kStop = -1, kNone = 0, kProfit = 1 };

/// Barriers of a position opened at `entry` on `bar`.
template <Rules R>
HD Barrier<Money<R>> set_barrier(const EnvParams& p, Money<R> entry, bool is_long, i32 bar) {
  using T = Money<R>;
  Barrier<T> b{};
  b.last_bar = bar + p.barrier_max_bars;
  if constexpr (R.barriers_mirrored) {
    const double up_bps = is_long ? p.barrier_profit_bps : p.barrier_stop_bps;
    const double down_bps = is_long ? p.barrier_stop_bps : p.barrier_profit_bps;
    // Left to right in float64: 100·10250/10000 is 102.5, where 100·(1 + 0.025) is not.
    b.upper = up_bps > 0 ? entry * (10000.0 + up_bps) / 10000.0 : 0;
    b.lower = down_bps > 0 ? entry * (10000.0 - down_bps) / 10000.0 : 0;
  } else {
    b.upper = entry * (T(1) + static_cast<T>(p.barrier_profit_bps) / T(10000));
    b.lower = entry * (T(1) - static_cast<T>(p.barrier_stop_bps) / T(10000));
  }
  return b;
}

/// The classic check, at price p after the trade: the position stays open, profit comes first.
template <typename T>
HD Label check_on_close(Barrier<T>& b, T price, i32 bar) {
  if (b.resolved != 0) return Label::kNone;
  if (price >= b.upper) {
    b.resolved = 1;
    return Label::kProfit;
  }
  if (price <= b.lower) {
    b.resolved = 1;
    return Label::kStop;
  }
  if (bar >= b.last_bar) b.resolved = 1;
  return Label::kNone;
}

template <typename T>
struct Fill {
  Label label;
  T price;  // 0: none
};

/// Resting exit orders over the coming bar (open, high, low): the stop counts first when both are touched; a stop
/// gapped past fills at the open, a profit at its limit. `watched` is false once the time limit has passed.
template <typename T>
HD Fill<T> check_resting(const Barrier<T>& b, bool is_long, bool watched, T open, T high, T low) {
  const T stop = is_long ? b.lower : b.upper;
  const T profit = is_long ? b.upper : b.lower;
  if (!watched) return {Label::kNone, T(0)};
  if (is_long) {
    if (stop > 0 && low <= stop) return {Label::kStop, min_of(open, stop)};
    if (profit > 0 && high >= profit) return {Label::kProfit, profit};
  } else {
    if (stop > 0 && high >= stop) return {Label::kStop, max_of(open, stop)};
    if (profit > 0 && low <= profit) return {Label::kProfit, profit};
  }
  return {Label::kNone, T(0)};
}

}  // namespace warptape
