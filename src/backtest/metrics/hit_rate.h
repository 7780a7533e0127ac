// How many trades earned something.
#pragma once

#include <algorithm>
#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// Trades with net > 0 over all trades, one that is still open counting at its last price. Undefined without trades.
inline std::optional<double> hit_rate(const MetricInput& in) {
  if (!in.activity || in.activity->trades.empty()) return std::nullopt;
  const std::vector<Trade>& trades = in.activity->trades;
  const auto hits = std::count_if(trades.begin(), trades.end(), [](const Trade& t) { return t.net > 0; });
  return static_cast<double>(hits) / static_cast<double>(trades.size());
}

}  // namespace warptape
