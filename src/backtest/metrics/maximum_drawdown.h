// The deepest fall from a peak.
#pragma once

#include <algorithm>
#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// min over i of E_i/max(E_0 … E_i) - 1, as a fraction <= 0; the starting equity is a peak like any other
/// (Magdon-Ismail and Atiya, "Maximum Drawdown", Risk 17, 2004, relative to the peak). Undefined if the starting equity
/// is not above 0.
inline std::optional<double> maximum_drawdown(const MetricInput& in) {
  if (in.equity.size() < 2 || !(in.equity.front() > 0)) return std::nullopt;
  double peak = in.equity.front();
  double deepest = 0;
  for (const double e : in.equity) {
    peak = std::max(peak, e);
    deepest = std::min(deepest, e / peak - 1);
  }
  return deepest;
}

}  // namespace warptape
