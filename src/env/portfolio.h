// The portfolio and the trade toward a target, under both rule sets (docs/domain.md, sections 4.2 and 7).
#pragma once

#include "core/hd.h"
#include "env/barrier.h"
#include "env/params.h"
#include "env/rules.h"

namespace warptape {

template <typename T>
struct Portfolio {
  T cash;
  T position;         // units, negative when short
  T entry;            // price; 0 when flat
  T cumulative_cost;  // of the chain of episodes under market rules, of the episode under classic
  T base;             // equity at the episode's start: normalises, and sizes the cap
  T cap;              // units that exposure 1 means, fixed at the episode's start
};

template <typename T>
HD T equity_at(const Portfolio<T>& p, T price) {
  return p.cash + p.position * price;
}

template <typename T>
HD T cap_of(const EnvParams& params, T base, T price) {
  return params.max_position > 0 ? static_cast<T>(params.max_position)
                                 : static_cast<T>(params.max_exposure) * base / price;
}

template <Rules R>
HD bool is_flat(Money<R> position) {
  return R.flat_is_exact ? position == 0 : abs_of(position) < Money<R>(0.001f);
}

/// Classic rules: reversals in whole units; the reserve checked on buys. Every operation is rounded to float32 in the
/// written order. Returns the cost paid.
template <Rules R>
HD Money<R> trade_unlimited(const EnvParams& params, Portfolio<Money<R>>& f, Barrier<Money<R>>& barrier,
                            Money<R> target, Money<R> rate, Money<R> price, i32 bar) {
  using T = Money<R>;
  const T equity = equity_at(f, price);
  const T reserve_fraction = static_cast<T>(params.reserve_pct) / T(100);
  if (f.position * target < 0) {
    const T close_cost = abs_of(f.position) * price * rate;
    f.cash += f.position * price - close_cost;
    const T affordable = max_of(f.cash - equity * reserve_fraction, T(0));
    const T units = min_of(floor_of(affordable / (price * (T(1) + rate))), abs_of(target));
    if (!(units > 0)) {
      f.position = 0;
      f.entry = 0;
      barrier = {};
      return close_cost;
    }
    const T opened = target > 0 ? units : -units;
    const T open_cost = units * price * rate;
    f.cash -= opened * price + open_cost;
    f.position = opened;
    f.entry = price;
    barrier = set_barrier<R>(params, price, target > 0, bar);
    return close_cost + open_cost;
  }
  T delta = target - f.position;
  if (delta == 0) return T(0);
  const T held = f.position;
  const T cost = abs_of(delta) * price * rate;  // on the uncut delta, whatever the reserve leaves of it
  f.cash -= cost;
  if (delta > 0 && params.reserve_pct > 0) {
    const T reserve = equity_at(f, price) * reserve_fraction;
    if (f.cash - delta * price < reserve) {
      delta = min_of(delta, floor_of(max_of(f.cash - reserve, T(0)) / price));
    }
  }
  f.cash -= delta * price;
  f.position += delta;
  if (delta > 0) {
    if (held >= 0 || R.cover_moves_entry) f.entry = price;
    if (is_flat<R>(held)) barrier = set_barrier<R>(params, price, true, bar);
  } else if (is_flat<R>(held) && R.short_open_sets_entry && delta < 0) {
    f.entry = price;
    barrier = set_barrier<R>(params, price, false, bar);
  } else if (is_flat<R>(target) && (delta < 0 || R.cut_buy_clears)) {
    // A buy that covers a short to flat does not come here: its barrier waits for the next short.
    f.entry = 0;
    barrier = {};
  }
  return cost;
}

/// Whole lots of `size`, cut toward zero.
template <typename T>
HD T whole_lots(T size, T lot) {
  return lot > 0 ? floor_of(size / lot * (T(1) + T(1e-12))) * lot : size;
}

/// Market rules: buying power limits what is opened or added, it never forces a reduction; whole lots on every trade;
/// the cost is charged on what traded. Returns the cost paid.
template <Rules R>
HD Money<R> trade_within_buying_power(const EnvParams& params, Portfolio<Money<R>>& f, Barrier<Money<R>>& barrier,
                                      Money<R> target, Money<R> rate, Money<R> price, i32 bar) {
  using T = Money<R>;
  const T leverage = static_cast<T>(params.leverage);
  const T lot = static_cast<T>(params.lot_size);
  const T equity = equity_at(f, price);
  const T reserve = equity * (static_cast<T>(params.reserve_pct) / T(100));
  const T held = abs_of(f.position);
  const T sign = target > 0 ? T(1) : T(-1);
  const T unit_need = price * (T(1) + leverage * rate);
  const bool reverses = f.position * target < 0;

  if (reverses || f.position == 0) {
    const T close_cost = held * price * rate;
    const T limit = max_of(leverage * (equity - reserve - close_cost) / unit_need, T(0));
    const T size = whole_lots(min_of(abs_of(target), limit), lot);
    if (reverses) f.cash += f.position * price - close_cost;
    f.position = 0;
    f.entry = 0;
    barrier = {};
    if (!(size > 0)) return close_cost;
    const T open_cost = size * price * rate;
    f.cash -= sign * size * price + open_cost;
    f.position = sign * size;
    f.entry = price;
    barrier = set_barrier<R>(params, price, target > 0, bar);
    return close_cost + open_cost;
  }

  const T side = f.position > 0 ? T(1) : T(-1);
  const T limit = max_of(held, leverage * (equity - reserve + held * price * rate) / unit_need);
  const T size = whole_lots(min_of(abs_of(target), limit), lot);
  const T traded = abs_of(size - held);
  if (traded <= T(1e-12) * held) return T(0);
  const T cost = traded * price * rate;
  f.cash -= cost;
  f.cash -= (side * size - f.position) * price;
  if (size > held) f.entry = (f.entry * held + price * traded) / size;
  f.position = side * size;
  if (size == 0) {
    f.position = 0;  // never -0
    f.entry = 0;
    barrier = {};
  }
  return cost;
}

/// Trades toward `target` units at `price`; returns the cost paid.
template <Rules R>
HD Money<R> trade(const EnvParams& params, Portfolio<Money<R>>& f, Barrier<Money<R>>& barrier, Money<R> target,
                  Money<R> rate, Money<R> price, i32 bar) {
  Money<R> cost;
  if constexpr (R.buying_power) {
    cost = trade_within_buying_power<R>(params, f, barrier, target, rate, price, bar);
  } else {
    cost = trade_unlimited<R>(params, f, barrier, target, rate, price, bar);
  }
  f.cumulative_cost += cost;
  return cost;
}

}  // namespace warptape
