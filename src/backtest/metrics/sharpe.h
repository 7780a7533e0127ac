// Return beyond the riskless one for each unit of scatter.
#pragma once

#include <cmath>
#include <optional>

#include "backtest/metrics/input.h"
#include "backtest/metrics/moments.h"

namespace warptape {

/// mean(r - rf)/deviation(r)·sqrt(N), ddof 1 (Sharpe, "The Sharpe Ratio", Journal of Portfolio Management 21, 1994).
/// Undefined with fewer than 2 returns, without N, or where the returns are all the same.
inline std::optional<double> sharpe(const MetricInput& in) {
  if (in.returns.size() < 2 || !in.bars_per_year) return std::nullopt;
  const double deviation = sample_deviation(in.returns);
  if (is_nothing(deviation, in.returns)) return std::nullopt;
  return (mean_of(in.returns) - in.rf_per_bar()) / deviation * std::sqrt(*in.bars_per_year);
}

}  // namespace warptape
