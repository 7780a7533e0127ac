// Yearly growth for each unit of the deepest fall.
#pragma once

#include <optional>

#include "backtest/metrics/annual_return.h"
#include "backtest/metrics/input.h"
#include "backtest/metrics/maximum_drawdown.h"

namespace warptape {

/// annual return/|maximum drawdown|, over the whole series (Young, "Calmar Ratio: A Smoother Tool", Futures, October
/// 1991, there over three years). Undefined where one of them is, and without a drawdown.
inline std::optional<double> calmar(const MetricInput& in) {
  const std::optional<double> growth = annual_return(in);
  const std::optional<double> drawdown = maximum_drawdown(in);
  if (!growth || !drawdown || *drawdown == 0) return std::nullopt;
  return *growth / -*drawdown;
}

}  // namespace warptape
