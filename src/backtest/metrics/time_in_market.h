// How long something is held.
#pragma once

#include <algorithm>
#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// Bars with a position after the order over all bars. Undefined without bars.
inline std::optional<double> time_in_market(const MetricInput& in) {
  if (!in.activity || in.activity->held_notional.empty()) return std::nullopt;
  const std::vector<double>& held = in.activity->held_notional;
  const auto bars = std::count_if(held.begin(), held.end(), [](double notional) { return notional > 0; });
  return static_cast<double>(bars) / static_cast<double>(held.size());
}

}  // namespace warptape
