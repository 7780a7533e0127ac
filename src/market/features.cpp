#include "market/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "market/indicators.h"
#include "market/rolling.h"

namespace warptape {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

double over(double numerator, double denominator) {
  return denominator == 0 ? 0 : numerator / denominator;
}

float to_feature(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isnan(value)) return 0;  // infinity over infinity: prices near the end of float64
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

/// The feature matrix being filled, column by column in the order of the names.
class Columns {
 public:
  explicit Columns(std::size_t bars) : bars_(bars), width_(builtin_feature_names().size()), values_(bars * width_) {}

  /// value(t) for the bars from `first` on, 0 before it.
  template <typename Function>
  void add(std::string_view name, std::size_t first, Function value) {
    CHECK_LT(next_, width_);
    CHECK_EQ(name, builtin_feature_names()[next_]);
    for (std::size_t t = first; t < bars_; ++t) values_[t * width_ + next_] = to_feature(value(t));
    ++next_;
  }

  void add(std::string_view name, const Series& series) {
    add(name, 0, [&](std::size_t t) { return series[t]; });
  }

  std::vector<float> take() {
    CHECK_EQ(next_, width_);
    return std::move(values_);
  }

 private:
  std::size_t bars_, width_, next_ = 0;
  std::vector<float> values_;
};

/// what(moments of the last n of x, x[t]) for every bar from `first` + n - 1 on; x counts from `first`.
template <typename Function>
Series rolling_moments(const Series& x, int n, std::size_t first, Function what) {
  Series out(x.size());
  SlidingWindow<Moments> window(n);
  for (std::size_t t = first; t < x.size(); ++t) {
    window.push(x[t]);
    if (window.full()) out[t] = what(window.value(), x[t]);
  }
  return out;
}

double zscore(const Moments& window, double x) {
  return over(x - window.mean, window.population_deviation());
}

void add_returns(const Bars& bars, Columns& columns) {
  for (const std::size_t n : {1, 2, 3, 5, 10, 20, 60}) {
    columns.add(fmt::format("log_return_{}", n), n,
                [&](std::size_t t) { return std::log(bars.close[t] / bars.close[t - n]); });
  }
}

void add_bar_shape(const Bars& bars, Columns& columns) {
  const std::vector<double>& open = bars.open;
  const std::vector<double>& high = bars.high;
  const std::vector<double>& low = bars.low;
  const std::vector<double>& close = bars.close;
  columns.add("range", 0, [&](std::size_t t) { return (high[t] - low[t]) / close[t]; });
  columns.add("body", 0, [&](std::size_t t) { return (close[t] - open[t]) / close[t]; });
  columns.add("upper_wick", 0, [&](std::size_t t) { return (high[t] - std::max(open[t], close[t])) / close[t]; });
  columns.add("lower_wick", 0, [&](std::size_t t) { return (std::min(open[t], close[t]) - low[t]) / close[t]; });
  columns.add("gap", 1, [&](std::size_t t) { return (open[t] - close[t - 1]) / close[t]; });
}

void add_volatility(const Bars& bars, Columns& columns) {
  const std::size_t count = bars.close.size();
  Series log_return(count), parkinson(count), garman_klass(count);
  for (std::size_t t = 0; t < count; ++t) {
    if (t > 0) log_return[t] = std::log(bars.close[t] / bars.close[t - 1]);
    const double log_range = std::log(bars.high[t] / bars.low[t]);
    const double log_body = std::log(bars.close[t] / bars.open[t]);
    parkinson[t] = log_range * log_range / (4 * std::numbers::ln2);
    garman_klass[t] = log_range * log_range / 2 - (2 * std::numbers::ln2 - 1) * log_body * log_body;
  }
  for (const int n : {5, 10, 20, 60}) {
    columns.add(fmt::format("volatility_{}", n), rolling_moments(log_return, n, 1, [](const Moments& window, double) {
                  return window.sample_deviation();
                }));
  }
  const auto root_of_mean = [](const Moments& window, double) { return std::sqrt(std::max(window.mean, 0.0)); };
  columns.add("parkinson_20", rolling_moments(parkinson, 20, 0, root_of_mean));
  columns.add("garman_klass_20", rolling_moments(garman_klass, 20, 0, root_of_mean));
}

void add_trend(const Bars& bars, Columns& columns) {
  const Series& close = bars.close;
  for (const int n : {5, 10, 20, 50, 100}) {
    columns.add(fmt::format("close_over_sma_{}", n),
                rolling_moments(close, n, 0, [](const Moments& window, double c) { return c / window.mean - 1; }));
  }
  for (const int n : {12, 26, 50}) {
    const Series mean = ema(close, n, n - 1);
    columns.add(fmt::format("close_over_ema_{}", n), static_cast<std::size_t>(n - 1),
                [&](std::size_t t) { return close[t] / mean[t] - 1; });
  }
  const Macd lines = macd(close);
  columns.add("macd_line", 0, [&](std::size_t t) { return lines.line[t] / close[t]; });
  columns.add("macd_signal", 0, [&](std::size_t t) { return lines.signal[t] / close[t]; });
  columns.add("macd_histogram", 0, [&](std::size_t t) { return lines.histogram[t] / close[t]; });
}

void add_oscillators(const Bars& bars, Columns& columns) {
  const Series& close = bars.close;
  for (const int n : {7, 14, 28}) columns.add(fmt::format("rsi_{}", n), rsi(close, n));
  const Stochastic lines = stochastic(bars.high, bars.low, close, 14);
  columns.add("stochastic_k_14", lines.k);
  columns.add("stochastic_d_14", lines.d);
  const Series range = atr(bars.high, bars.low, close, 14);
  columns.add("atr_14", 0, [&](std::size_t t) { return range[t] / close[t]; });
  columns.add("bollinger_b_20", rolling_moments(close, 20, 0, [](const Moments& window, double c) {
                const double half = 2 * window.population_deviation();
                return over(c - (window.mean - half), 2 * half);
              }));
  columns.add("bollinger_bandwidth_20", rolling_moments(close, 20, 0, [](const Moments& window, double) {
                return 4 * window.population_deviation() / window.mean;
              }));
  const Directional movement = directional(bars.high, bars.low, close, 14);
  columns.add("adx_14", movement.adx);
  columns.add("plus_di_14", movement.plus_di);
  columns.add("minus_di_14", movement.minus_di);
  columns.add("cci_20", cci(bars.high, bars.low, close, 20));
  columns.add("close_zscore_20", rolling_moments(close, 20, 0, zscore));
  columns.add("close_zscore_60", rolling_moments(close, 60, 0, zscore));
}

/// Least-squares slope, in volume a bar, of on-balance volume over the last n bars. Written over its steps (the volume,
/// signed by the close's direction): their sum over the whole series, which may grow without bound, is never formed.
Series obv_slope(const Series& close, const Series& volume, int n) {
  Series step(close.size());
  for (std::size_t t = 1; t < close.size(); ++t) {
    step[t] = close[t] > close[t - 1] ? volume[t] : close[t] < close[t - 1] ? -volume[t] : 0;
  }
  // Step j of 0..n-1 lifts the points j..n-1: its weight is the sum of their distances from the middle.
  const double spread = n * (static_cast<double>(n) * n - 1) / 12;
  Series out(close.size());
  for (std::size_t t = static_cast<std::size_t>(n) - 1; t < close.size(); ++t) {
    for (int j = 1; j < n; ++j) {
      const double weight = j * (n - j) / 2.0 / spread;
      out[t] += weight * step[t - static_cast<std::size_t>(n - 1 - j)];
    }
  }
  return out;
}

void add_volume(const Bars& bars, Columns& columns) {
  const Series volume = bars.volume.empty() ? Series(bars.close.size(), 0.0) : bars.volume;
  Series log_volume(volume.size());
  for (std::size_t t = 0; t < volume.size(); ++t) log_volume[t] = std::log1p(volume[t]);
  columns.add("log_volume_zscore_20", rolling_moments(log_volume, 20, 0, zscore));
  const Series mean_5 = sma(volume, 5);
  const Series mean_20 = sma(volume, 20);
  columns.add("volume_ratio_5_20", 0, [&](std::size_t t) { return over(mean_5[t], mean_20[t]); });
  const Series slope = obv_slope(bars.close, volume, 20);
  columns.add("obv_slope_20", 0, [&](std::size_t t) { return over(slope[t], mean_20[t]); });
  columns.add("mfi_14", mfi(bars.high, bars.low, bars.close, volume, 14));
}

void add_calendar(const Bars& bars, Columns& columns) {
  struct Angle {
    double of_day, of_week;
  };
  const auto angle = [&](std::size_t t) {
    constexpr std::int64_t kNsPerDay = kSecondsPerDay * kNsPerSecond;
    const std::int64_t day = bars.ts_ns[t] / kNsPerDay - (bars.ts_ns[t] % kNsPerDay < 0 ? 1 : 0);
    const double part_of_day = static_cast<double>(bars.ts_ns[t] - day * kNsPerDay) / static_cast<double>(kNsPerDay);
    const std::int64_t weekday = ((day + 3) % 7 + 7) % 7;  // 1970-01-01 was a Thursday; Monday is 0
    return Angle{2 * std::numbers::pi * part_of_day, 2 * std::numbers::pi * static_cast<double>(weekday) / 7};
  };
  columns.add("hour_sin", 0, [&](std::size_t t) { return std::sin(angle(t).of_day); });
  columns.add("hour_cos", 0, [&](std::size_t t) { return std::cos(angle(t).of_day); });
  columns.add("weekday_sin", 0, [&](std::size_t t) { return std::sin(angle(t).of_week); });
  columns.add("weekday_cos", 0, [&](std::size_t t) { return std::cos(angle(t).of_week); });
}

}  // namespace

const std::vector<std::string>& builtin_feature_names() {
  static const std::vector<std::string> names = {"log_return_1",
                                                 "log_return_2",
                                                 "log_return_3",
                                                 "log_return_5",
                                                 "log_return_10",
                                                 "log_return_20",
                                                 "log_return_60",
                                                 "range",
                                                 "body",
                                                 "upper_wick",
                                                 "lower_wick",
                                                 "gap",
                                                 "volatility_5",
                                                 "volatility_10",
                                                 "volatility_20",
                                                 "volatility_60",
                                                 "parkinson_20",
                                                 "garman_klass_20",
                                                 "close_over_sma_5",
                                                 "close_over_sma_10",
                                                 "close_over_sma_20",
                                                 "close_over_sma_50",
                                                 "close_over_sma_100",
                                                 "close_over_ema_12",
                                                 "close_over_ema_26",
                                                 "close_over_ema_50",
                                                 "macd_line",
                                                 "macd_signal",
                                                 "macd_histogram",
                                                 "rsi_7",
                                                 "rsi_14",
                                                 "rsi_28",
                                                 "stochastic_k_14",
                                                 "stochastic_d_14",
                                                 "atr_14",
                                                 "bollinger_b_20",
                                                 "bollinger_bandwidth_20",
                                                 "adx_14",
                                                 "plus_di_14",
                                                 "minus_di_14",
                                                 "cci_20",
                                                 "close_zscore_20",
                                                 "close_zscore_60",
                                                 "log_volume_zscore_20",
                                                 "volume_ratio_5_20",
                                                 "obv_slope_20",
                                                 "mfi_14",
                                                 "hour_sin",
                                                 "hour_cos",
                                                 "weekday_sin",
                                                 "weekday_cos"};
  return names;
}

std::vector<float> compute_features(const Bars& bars) {
  Columns columns(bars.close.size());
  add_returns(bars, columns);
  add_bar_shape(bars, columns);
  add_volatility(bars, columns);
  add_trend(bars, columns);
  add_oscillators(bars, columns);
  add_volume(bars, columns);
  add_calendar(bars, columns);
  return columns.take();
}

}  // namespace warptape
