#include "market/indicators.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "market/rolling.h"

namespace warptape {
namespace {

int size_of(std::span<const double> x) {
  return static_cast<int>(x.size());
}

double over(double numerator, double denominator) {
  return denominator == 0 ? 0 : numerator / denominator;
}

/// Of bar t >= 1.
double true_range(std::span<const double> high, std::span<const double> low, std::span<const double> close, int t) {
  const double previous = close[t - 1];
  return std::max({high[t] - low[t], std::fabs(high[t] - previous), std::fabs(low[t] - previous)});
}

double typical_price(std::span<const double> high, std::span<const double> low, std::span<const double> close, int t) {
  return (high[t] + low[t] + close[t]) / 3;
}

/// Wilder's mean: that of the first n values, then (mean · (n - 1) + x) / n.
class WilderMean {
 public:
  explicit WilderMean(int n) : n_(n) {}

  void push(double x) {
    if (count_ < n_) {
      mean_ += x / n_;
      ++count_;
    } else {
      mean_ = (mean_ * (n_ - 1) + x) / n_;
    }
  }
  bool full() const { return count_ == n_; }
  double value() const { return mean_; }

 private:
  int n_;
  int count_ = 0;
  double mean_ = 0;
};

/// Wilder's running sum as TA-Lib seeds it for directional movement: the plain sum of the first n - 1 values, then
/// sum - sum/n + x.
class WilderSum {
 public:
  explicit WilderSum(int n) : n_(n) {}

  void push(double x) {
    if (count_ >= n_ - 1) sum_ -= sum_ / n_;
    sum_ += x;
    ++count_;
  }
  double value() const { return sum_; }

 private:
  int n_;
  int count_ = 0;
  double sum_ = 0;
};

}  // namespace

Series sma(std::span<const double> x, int n) {
  Series out(x.size());
  SlidingWindow<Moments> window(n);
  for (int t = 0; t < size_of(x); ++t) {
    window.push(x[t]);
    if (window.full()) out[t] = window.value().mean;
  }
  return out;
}

Series ema(std::span<const double> x, int n, int seed_bar) {
  CHECK_GE(seed_bar, n - 1);
  Series out(x.size());
  if (size_of(x) <= seed_bar) return out;
  Moments seed;
  for (int t = seed_bar - n + 1; t <= seed_bar; ++t) seed = Moments::merge(seed, Moments::of(x[t]));
  out[seed_bar] = seed.mean;
  const double k = 2.0 / (n + 1);
  for (int t = seed_bar + 1; t < size_of(x); ++t) out[t] = out[t - 1] + k * (x[t] - out[t - 1]);
  return out;
}

Macd macd(std::span<const double> close) {
  constexpr int kFast = 12, kSlow = 26, kSignal = 9;
  constexpr int kLineStart = kSlow - 1;
  constexpr int kSignalStart = kLineStart + kSignal - 1;
  const int bars = size_of(close);
  const Series fast = ema(close, kFast, kLineStart);
  const Series slow = ema(close, kSlow, kLineStart);
  Macd out{Series(close.size()), {}, Series(close.size())};
  for (int t = kLineStart; t < bars; ++t) out.line[t] = fast[t] - slow[t];
  out.signal = ema(out.line, kSignal, kSignalStart);
  for (int t = kSignalStart; t < bars; ++t) out.histogram[t] = out.line[t] - out.signal[t];
  return out;
}

Series rsi(std::span<const double> close, int n) {
  Series out(close.size());
  WilderMean gain(n), loss(n);
  for (int t = 1; t < size_of(close); ++t) {
    const double change = close[t] - close[t - 1];
    gain.push(std::max(change, 0.0));
    loss.push(std::max(-change, 0.0));
    if (gain.full()) out[t] = over(100 * gain.value(), gain.value() + loss.value());
  }
  return out;
}

Stochastic stochastic(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n) {
  constexpr int kSmoothing = 3;
  Stochastic out{Series(close.size()), Series(close.size())};
  SlidingWindow<Extremes> highs(n), lows(n);
  SlidingWindow<Moments> mean(kSmoothing);
  for (int t = 0; t < size_of(close); ++t) {
    highs.push(high[t]);
    lows.push(low[t]);
    if (!highs.full()) continue;
    const double lowest = lows.value().low;
    out.k[t] = 100 * over(close[t] - lowest, highs.value().high - lowest);
    mean.push(out.k[t]);
    if (mean.full()) out.d[t] = mean.value().mean;
  }
  return out;
}

Series atr(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n) {
  Series out(close.size());
  WilderMean range(n);
  for (int t = 1; t < size_of(close); ++t) {
    range.push(true_range(high, low, close, t));
    if (range.full()) out[t] = range.value();
  }
  return out;
}

Directional directional(std::span<const double> high, std::span<const double> low, std::span<const double> close,
                        int n) {
  Directional out{Series(close.size()), Series(close.size()), Series(close.size())};
  WilderSum range(n), plus(n), minus(n);
  WilderMean adx(n);
  for (int t = 1; t < size_of(close); ++t) {
    const double up = high[t] - high[t - 1];
    const double down = low[t - 1] - low[t];
    range.push(true_range(high, low, close, t));
    plus.push(up > 0 && up > down ? up : 0);
    minus.push(down > 0 && down > up ? down : 0);
    if (t < n) continue;
    out.plus_di[t] = 100 * over(plus.value(), range.value());
    out.minus_di[t] = 100 * over(minus.value(), range.value());
    const double both = out.plus_di[t] + out.minus_di[t];
    const double dx = 100 * over(std::fabs(out.plus_di[t] - out.minus_di[t]), both);
    // Both are 0 only as long as there never was a movement, when the ADX is 0 too: that TA-Lib then keeps its last
    // value comes to the same.
    adx.push(dx);
    if (adx.full()) out.adx[t] = adx.value();
  }
  return out;
}

Series cci(std::span<const double> high, std::span<const double> low, std::span<const double> close, int n) {
  Series typical(close.size());
  for (int t = 0; t < size_of(close); ++t) typical[t] = typical_price(high, low, close, t);
  const Series mean = sma(typical, n);
  Series out(close.size());
  for (int t = n - 1; t < size_of(close); ++t) {
    // The mean moves with every bar, so the deviation from it cannot be carried from bar to bar.
    double deviation = 0;
    for (int i = t - n + 1; i <= t; ++i) deviation += std::fabs(typical[i] - mean[t]) / n;
    out[t] = over(typical[t] - mean[t], 0.015 * deviation);
  }
  return out;
}

Series mfi(std::span<const double> high, std::span<const double> low, std::span<const double> close,
           std::span<const double> volume, int n) {
  Series out(close.size());
  SlidingWindow<Sum> positive(n), negative(n);
  for (int t = 1; t < size_of(close); ++t) {
    const double typical = typical_price(high, low, close, t);
    const double change = typical - typical_price(high, low, close, t - 1);
    const double flow = typical * volume[t];
    positive.push(change > 0 ? flow : 0);
    negative.push(change < 0 ? flow : 0);
    if (!positive.full()) continue;
    const double all = positive.value().value + negative.value().value;
    out[t] = all < 1 ? 0 : 100 * positive.value().value / all;
  }
  return out;
}

}  // namespace warptape
