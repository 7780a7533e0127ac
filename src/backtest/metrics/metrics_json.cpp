#include "backtest/metrics/metrics_json.h"

#include "backtest/metrics/metrics.h"

namespace warptape {

namespace {

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json metrics_json(const MetricInput& input) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Metric& metric : all_metrics()) {
    if (metric.needs_activity && !input.activity) continue;
    nlohmann::ordered_json one;
    one["value"] = number_or_null(value_of(metric, input));
    one["unit"] = unit_name(metric.unit);
    one["formula"] = metric.formula;
    if (metric.uses.bars_per_year) one["bars_per_year"] = number_or_null(input.bars_per_year);
    if (metric.uses.ddof) one["ddof"] = kDdof;
    if (metric.uses.rf) one["rf_per_year"] = input.rf_per_year;
    all[metric.name] = one;
  }
  return all;
}

}  // namespace warptape
