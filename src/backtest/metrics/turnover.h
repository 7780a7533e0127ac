// How often the equity is traded in a year.
#pragma once

#include <optional>

#include "backtest/metrics/input.h"
#include "backtest/metrics/moments.h"

namespace warptape {

/// Traded notional (opening and closing, exit fills included) over the mean equity, times N/n: a year's. Undefined
/// without N, and where the mean equity is not above 0.
inline std::optional<double> turnover(const MetricInput& in) {
  if (!in.activity || !in.bars_per_year || in.equity.size() < 2) return std::nullopt;
  const double mean_equity = mean_of(in.equity);
  if (!(mean_equity > 0)) return std::nullopt;
  const double years = static_cast<double>(in.equity.size() - 1) / *in.bars_per_year;
  return in.activity->traded_notional / mean_equity / years;
}

}  // namespace warptape
