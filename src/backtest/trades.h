// Trades out of a trace's rows: what was opened, how it ended, and what it earned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warptape/backtest.h"

namespace warptape {

/// How a trade ended. Under rules that start afresh after an episode, kEndOfData also stands for the episode's end.
enum class Exit : std::uint8_t { kSignal, kReversal, kStop, kProfit, kEndOfData, kRuin };
inline constexpr int kExitKinds = 6;

/// "signal", "reversal", "stop", "profit", "end of data", "ruin".
const char* exit_name(Exit exit);

/// A position from flat, or from a reversal, to flat, to a reversal or to the end of the rows; what was added and what
/// was closed in part lies inside it. Gross, cost and net are money.
struct Trade {
  std::string name;  ///< the trace's
  std::int64_t opened_ns = 0;
  std::optional<std::int64_t> closed_ns;  ///< empty: open at the end of the data, valued at the last price
  int side = 0;                           ///< +1 long, -1 short
  double units = 0;                       ///< the most held
  double entry_price = 0;                 ///< average over all units opened
  double exit_price = 0;                  ///< average over all units closed, those valued at the end included
  std::int64_t bars = 0;                  ///< bars over which it was held, the one of an exit fill included
  double gross = 0;                       ///< units sold at their prices less units bought at theirs
  double cost = 0;
  double net = 0;                    ///< gross - cost
  std::optional<double> return_pct;  ///< net, in percent of the notional of all units opened
  Exit exit = Exit::kSignal;
};

/// The trades of one trace in the order of their opening.
///
/// `end_ts_ns` is the time of the bar after the last row's: where an exit fill of the last row, and ruin, take place. A
/// fill inside the coming bar carries that bar's time.
///
/// A row's cost belongs to the trade that it was paid for. A reversal's is divided by notional between the trade that
/// it closes and the one that it opens, which is exact at one cost rate; only where a fill at another rate closes the
/// new position within the same row is it an approximation, between those two trades. Classic rules charge a buy that
/// the reserve cuts to nothing: it is listed as a trade of 0 units. So the nets always add up to the change of equity.
std::vector<Trade> trades_of(const Trace& trace, std::int64_t end_ts_ns);

/// Whether a fresh portfolio took the old one's place between two rows: classic rules, after an episode's end.
bool starts_afresh(const StepRow& row, const StepRow& next);

}  // namespace warptape
