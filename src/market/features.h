// The 51 built-in feature columns (docs/domain.md, section 1).
//
// o, h, l, c, v: the bar's open, high, low, close, volume; c1: the close before it; mean, deviation, sum, lowest and
// highest over the last n bars; r: the one-bar log return ln(c/c1). A zero denominator gives 0.
//
//   log_return_{1,2,3,5,10,20,60}    ln(c / c n bars ago)
//   range                            (h - l) / c
//   body                             (c - o) / c
//   upper_wick                       (h - max(o, c)) / c
//   lower_wick                       (min(o, c) - l) / c
//   gap                              (o - c1) / c
//   volatility_{5,10,20,60}          sample deviation (divided by n - 1) of r, per bar, not annualised
//   parkinson_20                     sqrt(mean(ln(h/l)^2) / (4 ln 2))                          [Parkinson 1980]
//   garman_klass_20                  sqrt(mean(ln(h/l)^2 / 2 - (2 ln 2 - 1) ln(c/o)^2))        [Garman, Klass 1980]
//   close_over_sma_{5,10,20,50,100}  c / mean(c) - 1
//   close_over_ema_{12,26,50}        c / EMA(c) - 1, the EMA seeded by the mean of its first n bars
//   macd_line, macd_signal, macd_histogram    MACD(12, 26, 9) / c
//   rsi_{7,14,28}                    RSI, Wilder, 0 to 100
//   stochastic_k_14, stochastic_d_14          100 (c - lowest l) / (highest h - lowest l), and its mean over 3 bars
//   atr_14                           ATR, Wilder, / c
//   bollinger_b_20                   (c - lower) / (upper - lower), bands at mean(c) -+ 2 population deviations
//   bollinger_bandwidth_20           (upper - lower) / mean(c)
//   adx_14, plus_di_14, minus_di_14  directional movement, Wilder, 0 to 100
//   cci_20                           commodity channel index over (h + l + c)/3
//   close_zscore_{20,60}             (c - mean(c)) / population deviation of c
//   log_volume_zscore_20             the same of ln(1 + v)
//   volume_ratio_5_20                mean(v) over 5 / mean(v) over 20
//   obv_slope_20                     least-squares slope of on-balance volume over 20 bars, / mean(v) over 20
//   mfi_14                           money flow index, 0 to 100; 0 where the flow over 14 bars is under 1 in all
//   hour_sin, hour_cos               of 2 pi (time of day / 24 h), UTC
//   weekday_sin, weekday_cos         of 2 pi (day / 7), UTC, Monday 0
#pragma once

#include <string>
#include <vector>

#include "warptape/dataset.h"

namespace warptape {

/// Bars at the front of a series whose look-backs are not full; whoever builds a dataset drops them.
inline constexpr int kWarmupBars = 100;

/// The columns' names, in order.
const std::vector<std::string>& builtin_feature_names();

/// Features [n, 51] row-major, computed in float64. Row t depends on bars 0 to t only, bit for bit, and is always
/// finite: what a look-back does not reach yet or what has no value is 0, what float32 cannot hold is its largest.
/// Without volume the last four columns before the clock's are 0.
std::vector<float> compute_features(const Bars& bars);

}  // namespace warptape
