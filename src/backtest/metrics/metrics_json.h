// Metrics as JSON, the same for a back-test's report and for an equity series alone.
#pragma once

#include <nlohmann/json.hpp>

#include "backtest/metrics/input.h"

namespace warptape {

/// An object of all metrics that the input allows: {"sharpe": {"value": 1.2 or null, "unit", "formula"}, …}, with
/// "bars_per_year" (null if unknown), "ddof" and "rf_per_year" where the metric uses them. In the order of the table.
nlohmann::ordered_json metrics_json(const MetricInput& input);

}  // namespace warptape
