// What the equity gained or lost over the whole series.
#pragma once

#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// E_n/E_0 - 1, as a fraction. Undefined if the starting equity is not above 0 or there is no bar.
inline std::optional<double> total_return(const MetricInput& in) {
  if (in.equity.size() < 2 || !(in.equity.front() > 0)) return std::nullopt;
  return in.equity.back() / in.equity.front() - 1;
}

}  // namespace warptape
