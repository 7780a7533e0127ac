// Aggregates over the last `window` values of a stream, without drift.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace warptape {

struct Sum {
  double value = 0;

  static Sum of(double x) { return {x}; }
  static Sum merge(const Sum& a, const Sum& b) { return {a.value + b.value}; }
};

/// Lowest and highest value.
struct Extremes {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  static Extremes of(double x) { return {x, x}; }
  static Extremes merge(const Extremes& a, const Extremes& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
};

/// Mean and sum of squared deviations from it. Merged as Chan, Golub and LeVeque (1983) do, so nothing cancels when the
/// mean is large beside the deviations, and equal values give exactly their value and 0.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;

  static Moments of(double x) { return {1, x, 0}; }
  static Moments merge(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const double delta = b.mean - a.mean;
    return {count, a.mean + delta * (b.count / count),
            a.squares + b.squares + delta * delta * (a.count * b.count / count)};
  }

  double population_deviation() const { return std::sqrt(squares / count); }
  double sample_deviation() const { return std::sqrt(squares / (count - 1)); }
};

/// The aggregate of the last `window` values, in amortised constant time a value. Values are never subtracted again, as
/// a running sum does, so one that has left the window leaves no rounding error behind. The window is a suffix of the
/// last whole block of `window` values and a prefix of the block being filled (van Herk 1992; Gil and Werman 1993).
template <typename Aggregate>
class SlidingWindow {
 public:
  explicit SlidingWindow(int window) : block_(static_cast<std::size_t>(window)), suffixes_(block_.size()) {}

  void push(double x) {
    block_[filled_++] = x;
    prefix_ = Aggregate::merge(prefix_, Aggregate::of(x));
    if (filled_ < block_.size()) return;
    Aggregate suffix;
    for (std::size_t i = block_.size(); i-- > 0;) {
      suffix = Aggregate::merge(Aggregate::of(block_[i]), suffix);
      suffixes_[i] = suffix;
    }
    filled_ = 0;
    prefix_ = Aggregate{};
    full_ = true;
  }

  /// Whether `window` values have come.
  bool full() const { return full_; }

  /// Of the last `window` values; only when full.
  Aggregate value() const { return Aggregate::merge(suffixes_[filled_], prefix_); }

 private:
  std::vector<double> block_;
  std::vector<Aggregate> suffixes_;  // [i]: of the values i... of the last whole block
  Aggregate prefix_;                 // of the block being filled
  std::size_t filled_ = 0;
  bool full_ = false;
};

}  // namespace warptape
