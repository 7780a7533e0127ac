#include "market/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

using market_test::kHourNs;
using market_test::kStartNs;
using market_test::random_bars;

constexpr std::size_t kColumns = 51;

Bars cut_after(const Bars& bars, std::size_t t) {
  Bars cut = bars;
  for (std::vector<double> Bars::*column : {&Bars::open, &Bars::high, &Bars::low, &Bars::close}) {
    (cut.*column).resize(t + 1);
  }
  if (!cut.volume.empty()) cut.volume.resize(t + 1);
  cut.ts_ns.resize(t + 1);
  cut.row.resize(t + 1);
  return cut;
}

double feature(const std::vector<float>& features, std::size_t bar, const std::string& name) {
  const std::vector<std::string>& names = builtin_feature_names();
  const auto found = std::find(names.begin(), names.end(), name);
  EXPECT_NE(found, names.end()) << name;
  return features[bar * kColumns + static_cast<std::size_t>(found - names.begin())];
}

/// To four units in the last place of float32.
void expect_feature(const std::vector<float>& features, std::size_t bar, const std::string& name, double expected) {
  EXPECT_FLOAT_EQ(static_cast<float>(feature(features, bar, name)), static_cast<float>(expected))
      << name << " of bar " << bar;
}

/// Bars whose open, high, low and close are all one number.
Bars flat_bars(std::int64_t count, double price) {
  Bars bars = random_bars(count, 9);
  for (std::vector<double> Bars::*column : {&Bars::open, &Bars::high, &Bars::low, &Bars::close}) {
    (bars.*column).assign(static_cast<std::size_t>(count), price);
  }
  return bars;
}

TEST(Features, FiftyOneDistinctNames) {
  const std::vector<std::string>& names = builtin_feature_names();
  EXPECT_EQ(names.size(), kColumns);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), kColumns);
}

TEST(Features, UseNoBarBehindTheirOwnBitForBit) {
  for (const bool with_volume : {true, false}) {
    Bars bars = random_bars(320, 4);
    if (!with_volume) bars.volume.clear();
    const std::vector<float> whole = compute_features(bars);
    for (const std::size_t t : {0, 1, 2, 13, 14, 19, 20, 33, 59, 60, 99, 100, 101, 119, 120, 187, 240, 319}) {
      const std::vector<float> part = compute_features(cut_after(bars, t));
      ASSERT_EQ(part.size(), (t + 1) * kColumns);
      for (std::size_t column = 0; column < kColumns; ++column) {
        const std::size_t at = t * kColumns + column;
        EXPECT_EQ(std::memcmp(&part[at], &whole[at], sizeof(float)), 0)
            << builtin_feature_names()[column] << " of bar " << t << ": " << part[at] << " against " << whole[at];
      }
    }
  }
}

TEST(Features, AreFiniteForWhateverBars) {
  const auto walk = [](const std::function<void(Bars&, std::size_t)>& change) {
    Bars bars = random_bars(260, 5);
    for (std::size_t t = 0; t < bars.close.size(); ++t) change(bars, t);
    return bars;
  };
  const auto set_all = [](Bars& bars, std::size_t t, double price) {
    bars.open[t] = bars.high[t] = bars.low[t] = bars.close[t] = price;
  };
  Bars without_volume = random_bars(260, 6);
  without_volume.volume.clear();
  const std::vector<Bars> cases = {
      flat_bars(260, 0.1),
      flat_bars(260, 1e-300),
      flat_bars(260, 1e300),
      without_volume,
      walk([](Bars& bars, std::size_t t) { bars.volume[t] = 0; }),
      walk([](Bars& bars, std::size_t t) { bars.volume[t] = t % 3 == 0 ? 1e300 : 0; }),
      walk([&](Bars& bars, std::size_t t) { set_all(bars, t, t % 2 == 0 ? 1e-300 : 1e300); }),
      walk([](Bars& bars, std::size_t t) { bars.high[t] = 1e308, bars.low[t] = 1e-308; }),
      walk([&](Bars& bars, std::size_t t) { set_all(bars, t, t < 130 ? 100 : 1e-12); }),
      walk([&](Bars& bars, std::size_t t) { set_all(bars, t, t == 130 ? 1e12 : 1); }),
      random_bars(0, 7),
      random_bars(1, 7),
      random_bars(26, 7),
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::vector<float> features = compute_features(cases[i]);
    ASSERT_EQ(features.size(), cases[i].close.size() * kColumns);
    for (std::size_t at = 0; at < features.size(); ++at) {
      ASSERT_TRUE(std::isfinite(features[at]))
          << "case " << i << ", " << builtin_feature_names()[at % kColumns] << " of bar " << at / kColumns;
    }
  }
}

TEST(Features, AFlatSeriesIsZeroButForTheClockAndVolume) {
  // 0.1 has no exact binary form: a mean that rounds would make a deviation out of nothing.
  const std::vector<float> features = compute_features(flat_bars(200, 0.1));
  for (std::size_t column = 0; column < kColumns; ++column) {
    const std::string& name = builtin_feature_names()[column];
    if (name.starts_with("hour") || name.starts_with("weekday") || name.find("volume") != std::string::npos) continue;
    EXPECT_EQ(features[150 * kColumns + column], 0) << name;
  }
}

TEST(Features, DoNotDependOnTheUnitOfPrice) {
  // A power of 2 changes exponents only, so every column must keep its bits.
  const Bars bars = random_bars(250, 8);
  Bars scaled = bars;
  for (std::vector<double> Bars::*column : {&Bars::open, &Bars::high, &Bars::low, &Bars::close}) {
    for (double& price : scaled.*column) price *= 1024;
  }
  EXPECT_EQ(compute_features(scaled), compute_features(bars));
}

TEST(Features, NoVolumeColumnIsLikeZeroVolume) {
  Bars zero = random_bars(200, 10), none = zero;
  zero.volume.assign(200, 0);
  none.volume.clear();
  const std::vector<float> features = compute_features(none);
  EXPECT_EQ(features, compute_features(zero));
  for (const char* name : {"log_volume_zscore_20", "volume_ratio_5_20", "obv_slope_20", "mfi_14"}) {
    EXPECT_EQ(feature(features, 150, name), 0) << name;
  }
}

TEST(Features, BarShapeByHand) {
  Bars bars = flat_bars(2, 95);
  bars.open[1] = 100;
  bars.high[1] = 110;
  bars.low[1] = 90;
  bars.close[1] = 104;
  const std::vector<float> features = compute_features(bars);
  expect_feature(features, 1, "range", 20.0 / 104);
  expect_feature(features, 1, "body", 4.0 / 104);
  expect_feature(features, 1, "upper_wick", 6.0 / 104);
  expect_feature(features, 1, "lower_wick", 10.0 / 104);
  expect_feature(features, 1, "gap", 5.0 / 104);
  expect_feature(features, 1, "log_return_1", 0.0905140075408319);  // ln(104/95)
}

TEST(Features, ASteadyRiseByHand) {
  // Close 1, 2, 3, ..., high and low half a unit about it, volume 10: all of these follow without a recursion.
  const std::size_t n = 200, t = 150;
  Bars bars = flat_bars(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    bars.open[i] = bars.close[i] = static_cast<double>(i + 1);
    bars.high[i] = bars.close[i] + 0.5;
    bars.low[i] = bars.close[i] - 0.5;
    bars.volume[i] = 10;
  }
  const std::vector<float> features = compute_features(bars);
  expect_feature(features, t, "rsi_14", 100);            // gains only
  expect_feature(features, t, "plus_di_14", 100 / 1.5);  // +DM 1 of a true range 1.5
  EXPECT_EQ(feature(features, t, "minus_di_14"), 0);
  expect_feature(features, t, "adx_14", 100);
  expect_feature(features, t, "atr_14", 1.5 / 151);
  expect_feature(features, t, "stochastic_k_14", 100 * 13.5 / 14);
  expect_feature(features, t, "stochastic_d_14", 100 * 13.5 / 14);
  expect_feature(features, t, "close_over_sma_20", 151 / 141.5 - 1);
  expect_feature(features, t, "close_zscore_20", 9.5 / std::sqrt(399.0 / 12));  // deviation of 1..20
  expect_feature(features, t, "cci_20", 9.5 / (0.015 * 5));                     // mean deviation of 1..20: 5
  expect_feature(features, t, "obv_slope_20", 1);                               // 10 a bar over volume 10
  expect_feature(features, t, "volume_ratio_5_20", 1);
  expect_feature(features, t, "mfi_14", 100);
  // An EMA lags a straight line by (n - 1)/2 bars, at which its SMA seed starts.
  expect_feature(features, t, "close_over_ema_12", 151 / 145.5 - 1);
  expect_feature(features, t, "macd_line", 7.0 / 151);
}

TEST(Features, MoneyFlowUnderOneCountsAsNone) {
  Bars bars = random_bars(120, 11);
  bars.volume.assign(120, 1e-6);  // about 1e-4 a bar
  EXPECT_EQ(feature(compute_features(bars), 110, "mfi_14"), 0);
}

TEST(Features, ClockAndWeekday) {
  // 2020-01-01 and 1969-12-31 were Wednesdays: 2 of 7 from Monday.
  Bars bars = flat_bars(3, 1);
  bars.ts_ns = {-6 * kHourNs, kStartNs, kStartNs + 3 * kHourNs};
  const std::vector<float> features = compute_features(bars);
  for (const std::size_t t : {0, 1, 2}) {
    expect_feature(features, t, "weekday_sin", 0.9749279121818236);
    expect_feature(features, t, "weekday_cos", -0.2225209339563144);
  }
  expect_feature(features, 0, "hour_sin", -1);  // 18:00
  EXPECT_NEAR(feature(features, 0, "hour_cos"), 0, 1e-7);
  EXPECT_EQ(feature(features, 1, "hour_sin"), 0);
  EXPECT_EQ(feature(features, 1, "hour_cos"), 1);
  expect_feature(features, 2, "hour_sin", 0.7071067811865476);  // 03:00
}

}  // namespace
}  // namespace warptape
