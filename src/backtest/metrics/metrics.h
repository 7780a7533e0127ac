// The table of metrics: a new one is a file beside this and a row in metrics.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backtest/metrics/input.h"

namespace warptape {

enum class Unit : std::uint8_t {
  kGain,   ///< a fraction with a sign, printed in percent: +1.9696 %
  kShare,  ///< a fraction >= 0, printed in percent
  kRatio,
  kMoney,
};

/// What a metric depends on beside the series, printed beside its value.
struct Uses {
  bool bars_per_year = false;
  bool ddof = false;
  bool rf = false;
};
inline constexpr int kDdof = 1;

struct Metric {
  const char* name;  ///< snake_case, as in files; "_" prints as a blank
  Unit unit;
  Uses uses;
  bool needs_activity;  ///< cannot be told from an equity series alone
  const char* formula;  ///< E equity, r returns, n bars, N bars per year
  std::optional<double> (*function)(const MetricInput&);
};

/// All metrics in the order in which they are shown.
std::span<const Metric> all_metrics();

/// The metric's value, or nothing where it is undefined or not finite: then it prints "n/a" and is null in JSON.
std::optional<double> value_of(const Metric& metric, const MetricInput& input);

/// "+1.9696 %", "4.5826", "n/a".
std::string value_text(const Metric& metric, const std::optional<double>& value);

/// The name with blanks: "total return".
std::string label_of(const Metric& metric);

/// "fraction", "ratio", "money": of the value in JSON.
const char* unit_name(Unit unit);

/// "N 252, ddof 1, rf 0": what the metric uses, empty if nothing.
std::string parameters_text(const Metric& metric, const MetricInput& input);

}  // namespace warptape
