#include "backtest/metrics/bars_per_year.h"

namespace warptape {

std::optional<double> bars_per_year(const std::vector<std::int64_t>& ts_ns) {
  constexpr double kNsPerYear = 365.25 * 86400e9;
  if (ts_ns.size() < 2 || ts_ns.back() <= ts_ns.front()) return std::nullopt;
  // Unsigned: the difference of two times centuries apart does not fit in int64.
  const std::uint64_t span_ns = static_cast<std::uint64_t>(ts_ns.back()) - static_cast<std::uint64_t>(ts_ns.front());
  return static_cast<double>(ts_ns.size() - 1) / (static_cast<double>(span_ns) / kNsPerYear);
}

std::string bars_per_year_source(const std::optional<double>& value, bool given) {
  if (given) return "given";
  if (value) return "from the data: steps over the span in years of 365.25 days";
  return "no times to tell it from: give --bars-per-year";
}

}  // namespace warptape
