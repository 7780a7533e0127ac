#include "backtest/metrics/metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backtest/metrics/annual_return.h"
#include "backtest/metrics/calmar.h"
#include "backtest/metrics/hit_rate.h"
#include "backtest/metrics/maximum_drawdown.h"
#include "backtest/metrics/mean_exposure.h"
#include "backtest/metrics/profit_factor.h"
#include "backtest/metrics/sharpe.h"
#include "backtest/metrics/sortino.h"
#include "backtest/metrics/time_in_market.h"
#include "backtest/metrics/total_costs.h"
#include "backtest/metrics/total_return.h"
#include "backtest/metrics/turnover.h"
#include "backtest/metrics/volatility.h"

namespace warptape {

namespace {

constexpr Uses kNothing{};
constexpr Uses kN{.bars_per_year = true};
constexpr Uses kNDdof{.bars_per_year = true, .ddof = true};
constexpr Uses kNRf{.bars_per_year = true, .rf = true};
constexpr Uses kNDdofRf{.bars_per_year = true, .ddof = true, .rf = true};

constexpr bool kEquity = false;
constexpr bool kTrades = true;

constexpr Metric kMetrics[] = {
    {"total_return", Unit::kGain, kNothing, kEquity, "E_n/E_0 - 1", total_return},
    {"annual_return", Unit::kGain, kN, kEquity, "(E_n/E_0)^(N/n) - 1", annual_return},
    {"volatility", Unit::kShare, kNDdof, kEquity, "std(r)*sqrt(N)", volatility},
    {"sharpe", Unit::kRatio, kNDdofRf, kEquity, "mean(r - rf)/std(r)*sqrt(N)", sharpe},
    {"sortino", Unit::kRatio, kNRf, kEquity, "mean(r - rf)/sqrt(mean(min(r - rf, 0)^2))*sqrt(N)", sortino},
    {"maximum_drawdown", Unit::kGain, kNothing, kEquity, "min(E_i/max(E_0..E_i)) - 1", maximum_drawdown},
    {"calmar", Unit::kRatio, kN, kEquity, "annual_return/|maximum_drawdown|", calmar},
    {"hit_rate", Unit::kShare, kNothing, kTrades, "trades with net > 0/trades", hit_rate},
    {"profit_factor", Unit::kRatio, kNothing, kTrades, "sum(net > 0)/|sum(net < 0)|", profit_factor},
    {"turnover", Unit::kRatio, kN, kTrades, "traded notional/mean(E)*N/n", turnover},
    {"mean_exposure", Unit::kShare, kNothing, kTrades, "mean(|position|*price/E)", mean_exposure},
    {"time_in_market", Unit::kShare, kNothing, kTrades, "bars with a position/n", time_in_market},
    {"total_costs", Unit::kMoney, kNothing, kTrades, "sum(cost)", total_costs},
};

}  // namespace

std::span<const Metric> all_metrics() {
  return kMetrics;
}

std::optional<double> value_of(const Metric& metric, const MetricInput& input) {
  if (metric.needs_activity && !input.activity) return std::nullopt;
  const std::optional<double> value = metric.function(input);
  // A few bars compounded over a year can pass the range of a double.
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string value_text(const Metric& metric, const std::optional<double>& value) {
  if (!value) return "n/a";
  const bool percent = metric.unit == Unit::kGain || metric.unit == Unit::kShare;
  const double shown = (percent ? 100 : 1) * *value;
  const bool fits = std::abs(shown) < 1e7;
  std::string text = metric.unit == Unit::kGain ? (fits ? fmt::format("{:+.4f}", shown) : fmt::format("{:+.4e}", shown))
                                                : (fits ? fmt::format("{:.4f}", shown) : fmt::format("{:.4e}", shown));
  return percent ? text + " %" : text;
}

std::string label_of(const Metric& metric) {
  std::string label = metric.name;
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kGain:
    case Unit::kShare:
      return "fraction";
    case Unit::kRatio:
      return "ratio";
    case Unit::kMoney:
      return "money";
  }
  return "unknown";
}

std::string parameters_text(const Metric& metric, const MetricInput& input) {
  std::vector<std::string> parts;
  if (metric.uses.bars_per_year) {
    parts.push_back(input.bars_per_year ? fmt::format("N {:.10g}", *input.bars_per_year) : "N unknown");
  }
  if (metric.uses.ddof) parts.push_back(fmt::format("ddof {}", kDdof));
  if (metric.uses.rf) parts.push_back(fmt::format("rf {:g}", input.rf_per_year));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace warptape
