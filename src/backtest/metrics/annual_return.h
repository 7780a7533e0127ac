// The compound annual growth rate.
#pragma once

#include <cmath>
#include <optional>

#include "backtest/metrics/input.h"
#include "backtest/metrics/total_return.h"

namespace warptape {

/// (E_n/E_0)^(N/n) - 1 with n bars and N bars per year, as a fraction: the CAGR. Undefined without N, or where the
/// final equity is below 0.
inline std::optional<double> annual_return(const MetricInput& in) {
  const std::optional<double> total = total_return(in);
  if (!total || !in.bars_per_year || *total < -1) return std::nullopt;
  const double years = static_cast<double>(in.equity.size() - 1) / *in.bars_per_year;
  // expm1 and log1p: a gain of 1e-12 a year survives.
  return std::expm1(std::log1p(*total) / years);
}

}  // namespace warptape
