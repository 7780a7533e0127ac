// How much of the equity is invested.
#pragma once

#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// mean(|position|·price/equity) over all bars, long and short alike, position after the order and equity before it.
/// Undefined without bars, and where something is held on an equity that is not above 0.
inline std::optional<double> mean_exposure(const MetricInput& in) {
  if (!in.activity || in.activity->held_notional.empty()) return std::nullopt;
  const std::vector<double>& held = in.activity->held_notional;
  double sum = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] == 0) continue;
    if (!(in.equity[i] > 0)) return std::nullopt;
    sum += held[i] / in.equity[i];
  }
  return sum / static_cast<double>(held.size());
}

}  // namespace warptape
