// How much returns scatter.
#pragma once

#include <cmath>
#include <optional>

#include "backtest/metrics/input.h"
#include "backtest/metrics/moments.h"

namespace warptape {

/// Sample deviation of the returns (ddof 1) times sqrt(N), as a fraction a year. Undefined with fewer than 2 returns or
/// without N.
inline std::optional<double> volatility(const MetricInput& in) {
  if (in.returns.size() < 2 || !in.bars_per_year) return std::nullopt;
  return sample_deviation(in.returns) * std::sqrt(*in.bars_per_year);
}

}  // namespace warptape
