// What winning trades earned for each unit that losing ones lost.
#pragma once

#include <optional>

#include "backtest/metrics/input.h"

namespace warptape {

/// Σ net of trades with net > 0 over |Σ net of those with net < 0|, one that is still open counting at its last price.
/// Undefined without losing trades.
inline std::optional<double> profit_factor(const MetricInput& in) {
  if (!in.activity) return std::nullopt;
  double won = 0, lost = 0;
  for (const Trade& t : in.activity->trades) (t.net > 0 ? won : lost) += t.net;
  if (lost == 0) return std::nullopt;
  return won / -lost;
}

}  // namespace warptape
