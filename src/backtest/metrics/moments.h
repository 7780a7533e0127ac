// Mean and deviations of returns, and when a deviation is nothing but rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace warptape {

/// Sum over count; `x` is not empty.
inline double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

/// Sample deviation: the squared distances from the mean over n - 1 (ddof 1). `x` has at least 2 values.
inline double sample_deviation(const std::vector<double>& x) {
  const double mean = mean_of(x);
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

/// A deviation that says nothing: at most 1e-12 of the largest absolute return, or what the rounding of
/// equity[i + 1]/equity[i] - 1 makes out of equal returns (three roundings of values near 1, however small the return).
inline bool is_nothing(double deviation, const std::vector<double>& returns) {
  double largest = 0;
  for (const double r : returns) largest = std::max(largest, std::abs(r));
  return !(deviation > std::max(1e-12 * largest, 4 * std::numeric_limits<double>::epsilon()));
}

}  // namespace warptape
