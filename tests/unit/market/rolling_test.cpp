#include "market/rolling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

struct Reference {
  long double mean, squares;
};

/// Two passes over the window in extended precision.
Reference two_pass(const std::vector<double>& x, std::size_t end, int n) {
  long double sum = 0, squares = 0;
  for (std::size_t i = end + 1 - static_cast<std::size_t>(n); i <= end; ++i) sum += x[i];
  const long double mean = sum / n;
  for (std::size_t i = end + 1 - static_cast<std::size_t>(n); i <= end; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, squares};
}

TEST(SlidingWindow, FillsAfterExactlyItsWindowAndHoldsTheLastValues) {
  market_test::Uniform uniform(1);
  for (const int n : {1, 2, 3, 7, 20}) {
    SlidingWindow<Extremes> extremes(n);
    SlidingWindow<Sum> sum(n);
    std::vector<double> x;
    for (int t = 0; t < 100; ++t) {
      x.push_back(std::floor(1000 * uniform()));  // whole numbers: their sums are exact in any order
      extremes.push(x.back());
      sum.push(x.back());
      ASSERT_EQ(extremes.full(), t >= n - 1);
      if (!extremes.full()) continue;
      double total = 0;
      for (auto i = x.end() - n; i != x.end(); ++i) total += *i;
      EXPECT_EQ(extremes.value().low, *std::min_element(x.end() - n, x.end()));
      EXPECT_EQ(extremes.value().high, *std::max_element(x.end() - n, x.end()));
      EXPECT_EQ(sum.value().value, total);
    }
  }
}

TEST(Moments, DoNotCancelWhereTheMeanIsLargeBesideTheMoves) {
  // Prices of 1e5 with moves of 1e-3 lie 1.5e-11 apart, so deviations are known to about 1e-8 of themselves; the naive
  // E[x^2] - E[x]^2 has an error of 1e10 * 1e-16 = 1e-6, as large as the variance.
  market_test::Uniform uniform(2);
  SlidingWindow<Moments> window(20);
  std::vector<double> x;
  for (int t = 0; t < 10'000; ++t) {
    x.push_back(1e5 + 1e-3 * uniform());
    window.push(x.back());
    if (!window.full()) continue;
    const Reference expected = two_pass(x, x.size() - 1, 20);
    ASSERT_NEAR(window.value().squares, static_cast<double>(expected.squares),
                1e-7 * static_cast<double>(expected.squares));
    ASSERT_NEAR(window.value().mean, static_cast<double>(expected.mean), 3e-11);
  }
}

TEST(Moments, AnOutlierThatLeftTheWindowLeavesNoTrace) {
  market_test::Uniform uniform(3);
  std::vector<double> x(200);
  for (double& value : x) value = 1 + 1e-6 * uniform();
  x[73] = 1e12;
  SlidingWindow<Moments> window(20);
  for (std::size_t t = 0; t < x.size(); ++t) {
    window.push(x[t]);
    if (t < 93) continue;
    const Reference expected = two_pass(x, t, 20);
    ASSERT_NEAR(window.value().squares, static_cast<double>(expected.squares),
                1e-8 * static_cast<double>(expected.squares));
  }
}

TEST(Moments, EqualValuesGiveExactlyThemselvesAndNoDeviation) {
  for (const double value : {0.1, 1.0 / 3, 12345.678}) {
    SlidingWindow<Moments> window(20);
    window.push(value * 1.5);
    for (int t = 0; t < 70; ++t) {
      window.push(value);
      if (t < 19) continue;
      EXPECT_EQ(window.value().mean, value);
      EXPECT_EQ(window.value().squares, 0);
    }
  }
}

TEST(Moments, DeviationsByHand) {
  Moments moments;
  for (const double x : {2, 4, 4, 4, 5, 5, 7, 9}) moments = Moments::merge(moments, Moments::of(x));
  EXPECT_DOUBLE_EQ(moments.mean, 5);
  EXPECT_DOUBLE_EQ(moments.population_deviation(), 2);
  EXPECT_DOUBLE_EQ(moments.sample_deviation(), std::sqrt(32.0 / 7));
}

}  // namespace
}  // namespace warptape
