// What a metric is computed from: an equity series, and for some the trades behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backtest/trades.h"
#include "warptape/backtest.h"

namespace warptape {

/// What a policy's rows add to its equity.
struct Activity {
  std::vector<Trade> trades;
  std::vector<double> held_notional;  ///< [n] |position|·price during each bar, an exit fill's bar included
  double traded_notional = 0;         ///< |units|·price of all orders and fills, opening and closing
  double costs = 0;                   ///< money
};

/// One policy's equity at each bar, the starting equity first.
struct MetricInput {
  std::vector<double> equity;   ///< [n + 1] money
  std::vector<double> returns;  ///< [n] equity[i + 1] / equity[i] - 1; empty if an equity before the last is <= 0
  std::optional<double> bars_per_year;
  double rf_per_year = 0;  ///< the riskless return of a year, as a fraction
  std::optional<Activity> activity;

  /// The riskless return of one bar: (1 + rf)^(1/N) - 1.
  double rf_per_bar() const;
};

/// An equity series alone. `equity` has at least one value.
MetricInput equity_input(std::vector<double> equity);

/// A trace's equity and activity. Where a fresh portfolio begins after an episode (classic rules) the series goes on
/// from where the last one ended, by adding the difference: the profits of one capital after another, not compounded.
MetricInput trace_input(const Trace& trace, std::int64_t end_ts_ns);

/// Goes on at the last equity, flat, up to `bars` bars: a ruined policy beside those that still trade.
void pad_to(MetricInput& input, std::size_t bars);

/// The sum of several inputs of the same length: an equally weighted portfolio of segments with one capital each.
MetricInput sum_of(const std::vector<const MetricInput*>& parts);

}  // namespace warptape
