// What trading cost.
#pragma once

#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// The sum of all costs of orders and exit fills, money.
inline std::optional<double> total_costs(const MetricInput& in) {
  if (!in.activity) return std::nullopt;
  return in.activity->costs;
}

}  // namespace warptape
