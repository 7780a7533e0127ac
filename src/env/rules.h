// The two rule sets: every difference is a named field (docs/domain.md, section 7), so that the step is specialised on
// them at compile time and no branch on a rule is left in a kernel.
#pragma once

#include "core/hd.h"

namespace warptape {

struct Rules {
  bool float64_money;           // cash, position, entry, equity, cost rates: float64, else float32
  bool barriers_mirrored;       // a short's profit lies below its entry
  bool short_open_sets_entry;   // a short opened from flat sets entry and barrier
  bool cover_moves_entry;       // buying back a short, wholly or in part, moves its entry
  bool cut_buy_clears;          // a buy that the reserve cuts to nothing clears entry and barrier if the target is flat
  bool flat_is_exact;           // flat means position = 0, else |position| < 0.001
  bool zero_barrier_is_off;     // 0 bps or 0 bars switch a barrier off, else it fires at once
  bool resting_exits;           // barriers fill inside the coming bar and close the position
  bool buying_power;            // leverage, reserve and lots limit every trade, and entries average; else whole units
                                // on reversals, the reserve on buys, costs on the uncut trade
  bool risk_after_trade;        // the exposure penalty looks at the position after the trade
  bool limits_truncate;         // time limit and end of data truncate, else they are terminal
  bool restart_at_random;       // an ended episode restarts at random, else the slot goes on at the next bar
  bool ruin_ends;               // next equity <= 0 ends the episode
  bool round_keeps_portfolio;   // a new round draws a new bar but keeps the portfolio
  bool lcg_random;              // exploration draws from the classic LCG, else from Philox
  bool third_number_is_return;  // the state's third number is the open position's return, else the spread
};

inline constexpr Rules kClassicRules{
    .float64_money = false,
    .barriers_mirrored = false,
    .short_open_sets_entry = false,
    .cover_moves_entry = true,
    .cut_buy_clears = true,
    .flat_is_exact = false,
    .zero_barrier_is_off = false,
    .resting_exits = false,
    .buying_power = false,
    .risk_after_trade = false,
    .limits_truncate = false,
    .restart_at_random = false,
    .ruin_ends = false,
    .round_keeps_portfolio = true,
    .lcg_random = true,
    .third_number_is_return = false,
};
inline constexpr Rules kMarketRules{
    .float64_money = true,
    .barriers_mirrored = true,
    .short_open_sets_entry = true,
    .cover_moves_entry = false,
    .cut_buy_clears = false,
    .flat_is_exact = true,
    .zero_barrier_is_off = true,
    .resting_exits = true,
    .buying_power = true,
    .risk_after_trade = true,
    .limits_truncate = true,
    .restart_at_random = true,
    .ruin_ends = true,
    .round_keeps_portfolio = false,
    .lcg_random = false,
    .third_number_is_return = true,
};

template <bool kFloat64>
struct MoneyType {
  using type = float;
};
template <>
struct MoneyType<true> {
  using type = double;
};
/// The type of every amount of money under rules R.
template <Rules R>
using Money = typename MoneyType<R.float64_money>::type;

}  // namespace warptape
