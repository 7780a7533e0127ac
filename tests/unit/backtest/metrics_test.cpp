#include "backtest/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backtest/metrics/bars_per_year.h"
#include "backtest/metrics/metrics_json.h"

namespace warptape {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;
constexpr std::int64_t kDayNs = 24 * kHourNs;

MetricInput yearly(std::vector<double> equity, double bars_per_year, double rf_per_year = 0) {
  MetricInput input = equity_input(std::move(equity));
  input.bars_per_year = bars_per_year;
  input.rf_per_year = rf_per_year;
  return input;
}

std::vector<double> compounded(const std::vector<double>& returns, double start = 100000) {
  std::vector<double> equity = {start};
  for (const double r : returns) equity.push_back(equity.back() * (1 + r));
  return equity;
}

const Metric& metric(const std::string& name) {
  for (const Metric& m : all_metrics()) {
    if (name == m.name) return m;
  }
  throw std::out_of_range(name);
}

std::optional<double> value(const std::string& name, const MetricInput& input) {
  return value_of(metric(name), input);
}
std::string text(const std::string& name, const MetricInput& input) {
  return value_text(metric(name), value(name, input));
}

TEST(Metrics, TwoUpOneDownTwiceOverTradingDays) {
  const MetricInput input = yearly(compounded({0.02, -0.01, 0.02, -0.01}), 252);
  EXPECT_EQ(text("total_return", input), "+1.9696 %");
  EXPECT_EQ(text("sharpe", input), "4.5826");    // 0.005/0.0173205·sqrt(252)
  EXPECT_EQ(text("sortino", input), "11.2250");  // 0.005/sqrt(2·0.01²/4)·sqrt(252)
  EXPECT_EQ(text("maximum_drawdown", input), "-1.0000 %");
}

TEST(Metrics, AgreeWithNumpy) {
  // numpy 1.24 on these seven values with N = 252 and rf = 0.03: std(ddof=1), maximum.accumulate, plain formulas.
  const MetricInput input = yearly({100, 103, 101, 108, 99, 104, 111}, 252, 0.03);
  constexpr double kRounding = 1e-12;  // relative: a dozen operations in another order
  const auto expect = [&](const char* name, double expected) {
    EXPECT_NEAR(value(name, input).value(), expected, kRounding * std::abs(expected)) << name;
  };
  expect("total_return", 0.1100000000000001);
  expect("annual_return", 79.08756860723133);
  expect("volatility", 0.9505100559894362);
  expect("sharpe", 5.022494754993279);
  expect("sortino", 8.59483293016081);
  expect("maximum_drawdown", -0.08333333333333337);
  expect("calmar", 949.0508232867755);
}

TEST(Metrics, DrawdownIsFromTheHighestEquityBefore) {
  EXPECT_DOUBLE_EQ(value("maximum_drawdown", yearly({1000, 900, 750, 800}, 252)).value(), -0.25);
  EXPECT_DOUBLE_EQ(value("maximum_drawdown", yearly({100, 50, 200, 120}, 252)).value(), -0.5);
}

TEST(Metrics, EqualReturnsHaveNoSharpeWhateverTheirSize) {
  for (const double r : {0.01, 1e-6, -0.003}) {
    const MetricInput input = yearly(compounded(std::vector<double>(5, r)), 252);
    EXPECT_EQ(text("sharpe", input), "n/a") << r;
  }
  const MetricInput flat = yearly({1000, 1000, 1000, 1000}, 252);
  EXPECT_EQ(text("sharpe", flat), "n/a");
  EXPECT_EQ(text("sortino", flat), "n/a");
  EXPECT_EQ(text("calmar", flat), "n/a");
  EXPECT_EQ(text("total_return", flat), "+0.0000 %");
  EXPECT_EQ(text("volatility", flat), "0.0000 %");
}

TEST(Metrics, SmallReturnsThatDoVaryHaveASharpe) {
  // The ratio has no scale: as for the same returns in percents, up to the 2e-16 that 1 + r rounds 1e-9 by.
  const MetricInput input = yearly(compounded({2e-9, -1e-9, 2e-9, -1e-9}, 1.0), 252);
  EXPECT_NEAR(value("sharpe", input).value(), 4.5826, 1e-4);
}

TEST(Metrics, RisingEquityHasNoSortinoAndNoCalmar) {
  const MetricInput input = yearly({100, 101, 103, 106}, 252);
  EXPECT_EQ(text("sortino", input), "n/a");
  EXPECT_EQ(text("calmar", input), "n/a");
  EXPECT_NE(text("sharpe", input), "n/a");
}

TEST(Metrics, OneReturnIsTooFew) {
  const MetricInput input = yearly({100, 110}, 252);
  EXPECT_EQ(text("total_return", input), "+10.0000 %");
  for (const char* name : {"volatility", "sharpe", "sortino"}) EXPECT_EQ(text(name, input), "n/a") << name;
}

TEST(Metrics, WithoutBarsPerYearNothingIsAnnualised) {
  const MetricInput input = equity_input({100, 110, 99, 120});
  for (const char* name : {"annual_return", "volatility", "sharpe", "sortino", "calmar"}) {
    EXPECT_EQ(text(name, input), "n/a") << name;
  }
  EXPECT_EQ(text("maximum_drawdown", input), "-10.0000 %");
}

TEST(Metrics, RuinLeavesTheRatiosUndefined) {
  const MetricInput input = yearly({1000, 500, -200, -200}, 252);
  EXPECT_EQ(text("total_return", input), "-120.0000 %");
  EXPECT_EQ(text("maximum_drawdown", input), "-120.0000 %");
  for (const char* name : {"annual_return", "sharpe", "sortino", "volatility", "calmar"}) {
    EXPECT_EQ(text(name, input), "n/a") << name;
  }
}

TEST(Metrics, ANumberBeyondDoubleIsNotShown) {
  // Doubling every second for a year: 2^31557600.
  EXPECT_EQ(text("annual_return", yearly({1, 2, 4}, 365.25 * 86400)), "n/a");
}

TEST(Metrics, OfTradesAndPositions) {
  MetricInput input = yearly({1000, 1100, 1000, 900}, 6);  // three bars are half a year
  Activity activity;
  for (const double net : {150.0, -50.0, 0.0, -200.0}) {
    Trade trade;
    trade.net = net;
    activity.trades.push_back(trade);
  }
  activity.held_notional = {500, 0, 1000};
  activity.traded_notional = 4000;
  activity.costs = 12.5;
  input.activity = activity;
  EXPECT_EQ(text("hit_rate", input), "25.0000 %");
  EXPECT_EQ(text("profit_factor", input), "0.6000");
  EXPECT_EQ(text("turnover", input), "8.0000");          // 4000/1000 in half a year
  EXPECT_EQ(text("mean_exposure", input), "50.0000 %");  // (0.5 + 0 + 1)/3
  EXPECT_EQ(text("time_in_market", input), "66.6667 %");
  EXPECT_EQ(text("total_costs", input), "12.5000");

  input.activity->trades.clear();
  EXPECT_EQ(text("hit_rate", input), "n/a");
  EXPECT_EQ(text("profit_factor", input), "n/a");
}

TEST(Metrics, JsonHasNullForWhatIsUndefined) {
  MetricInput input = yearly({100, 101, 103, 106}, 252, 0.01);
  const auto json = metrics_json(input);
  EXPECT_TRUE(json["sortino"]["value"].is_null());
  EXPECT_EQ(json["sortino"]["rf_per_year"], 0.01);
  EXPECT_NEAR(json["total_return"]["value"].get<double>(), 0.06, 1e-15);  // 1.06 - 1 in float64
  EXPECT_EQ(json["total_return"]["unit"], "fraction");
  EXPECT_EQ(json["sharpe"]["ddof"], 1);
  EXPECT_EQ(json["sharpe"]["bars_per_year"], 252);
  EXPECT_FALSE(json.contains("hit_rate"));  // an equity series alone has no trades
}

TEST(Metrics, ParametersAreShownBesideTheValue) {
  const MetricInput input = yearly({100, 101, 99}, 252, 0.02);
  EXPECT_EQ(parameters_text(metric("sharpe"), input), "N 252, ddof 1, rf 0.02");
  EXPECT_EQ(parameters_text(metric("total_return"), input), "");
}

TEST(MetricInput, SumsSegmentsOfOneCapitalEach) {
  MetricInput a = equity_input({1000, 1100, 1200}), b = equity_input({1000, 900, 1000});
  for (MetricInput* input : {&a, &b}) {
    input->activity = Activity{};
    input->activity->held_notional = {1000, 500};
    input->activity->costs = 3;
    input->activity->trades.resize(2);
  }
  const MetricInput sum = sum_of({&a, &b});
  EXPECT_EQ(sum.equity, (std::vector<double>{2000, 2000, 2200}));
  EXPECT_NEAR(sum.returns[1], 0.1, 1e-15);  // 1.1 - 1 in float64
  EXPECT_EQ(sum.activity->held_notional, (std::vector<double>{2000, 1000}));
  EXPECT_EQ(sum.activity->costs, 6);
  EXPECT_EQ(sum.activity->trades.size(), 4u);
}

TEST(BarsPerYear, CountsStepsOverTheSpan) {
  std::vector<std::int64_t> hours;
  for (int i = 0; i < 1000; ++i) hours.push_back(i * kHourNs);
  EXPECT_NEAR(bars_per_year(hours).value(), 365.25 * 24, 1e-9);
}

TEST(BarsPerYear, WeekendsLieInsideTheSpan) {
  // Monday to Friday for 100 weeks, the last Monday closing the span: 5 bars in 7 days.
  std::vector<std::int64_t> days;
  for (int week = 0; week < 100; ++week) {
    for (int day = 0; day < 5; ++day) days.push_back((7 * week + day) * kDayNs);
  }
  days.push_back(700 * kDayNs);
  EXPECT_NEAR(bars_per_year(days).value(), 365.25 * 5 / 7, 1e-9);
}

TEST(BarsPerYear, NeedsTwoBarsAndTimeBetweenThem) {
  EXPECT_FALSE(bars_per_year({}).has_value());
  EXPECT_FALSE(bars_per_year({5}).has_value());
  EXPECT_FALSE(bars_per_year({5, 5}).has_value());
}

TEST(BarsPerYear, SpansThatPassInt64) {
  // From 1677 to 2262, the ends of what nanoseconds count: one step in 2^64 ns, 584.5 years.
  constexpr double kNsPerYear = 365.25 * 86400e9;
  EXPECT_NEAR(bars_per_year({INT64_MIN, INT64_MAX}).value(), kNsPerYear / std::ldexp(1.0, 64), 1e-12);
}

}  // namespace
}  // namespace warptape
