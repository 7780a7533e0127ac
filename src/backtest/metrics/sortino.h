// Return beyond the riskless one for each unit of scatter below it.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "backtest/metrics/input.h"
#include "backtest/metrics/moments.h"

namespace warptape {

/// mean(r - rf)/sqrt(mean(min(r - rf, 0)²))·sqrt(N): the downside deviation is over all bars, those above rf counting 0
/// (Sortino and Price, "Performance Measurement in a Downside Risk Framework", Journal of Investing 3, 1994). Undefined
/// with fewer than 2 returns, without N, or where no return lies below rf.
inline std::optional<double> sortino(const MetricInput& in) {
  if (in.returns.size() < 2 || !in.bars_per_year) return std::nullopt;
  const double rf = in.rf_per_bar();
  double squares = 0;
  for (const double r : in.returns) squares += std::pow(std::min(r - rf, 0.0), 2);
  const double downside = std::sqrt(squares / static_cast<double>(in.returns.size()));
  if (is_nothing(downside, in.returns)) return std::nullopt;
  return (mean_of(in.returns) - rf) / downside * std::sqrt(*in.bars_per_year);
}

}  // namespace warptape
