#include "env/diversity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "env/make_params.h"

namespace warptape {
namespace {

using Counts = std::array<int, kCategories>;

/// Shannon entropy in bits, by its definition.
double entropy(const Counts& counts) {
  const double n = counts[0] + counts[1] + counts[2];
  double bits = 0;
  for (const int c : counts) {
    if (c > 0) bits -= c / n * std::log2(c / n);
  }
  return bits;
}

EnvParams params_of(int window, double min_bits = 1.0) {
  EnvConfig config;
  config.diversity_window = window;
  config.diversity_min_bits = min_bits;
  return make_params(config);
}

Diversity filled(const EnvParams& params, const std::vector<int>& categories) {
  Diversity d = empty_diversity();
  for (const int c : categories) push_category(d, static_cast<Category>(c), params.diversity_window);
  return d;
}

void expect_counts(const Diversity& d, const std::deque<int>& last) {
  Counts counts{};
  for (const int c : last) ++counts[static_cast<std::size_t>(c)];
  EXPECT_EQ(d.size, last.size());
  for (std::size_t c = 0; c < counts.size(); ++c) EXPECT_EQ(d.count[c], counts[c]) << "category " << c;
}

// Against a rescan of the last `window` categories, past the point where the ring has gone around twice.
TEST(Diversity, TheRollingWindowEqualsARescanForEveryWindow) {
  for (int window = 3; window <= kMaxDiversityWindow && !HasFailure(); ++window) {
    SCOPED_TRACE(window);
    const EnvParams params = params_of(window);
    std::mt19937_64 engine(static_cast<std::uint64_t>(window));
    Diversity d = empty_diversity();
    std::deque<int> last;
    const unsigned favourite = window % 3u;  // else the entropy never falls under a bit
    for (int t = 0; t < 3 * window && !HasFailure(); ++t) {
      const int category = static_cast<int>(engine() % 8 < 6 ? favourite : engine() % 3);
      push_category(d, static_cast<Category>(category), window);
      last.push_back(category);
      if (last.size() > static_cast<std::size_t>(window)) last.pop_front();
      expect_counts(d, last);
      if (last.size() < 3) continue;
      const double bits = entropy({d.count[0], d.count[1], d.count[2]});
      // The exact bit has its own test; 1e-7 is far above what log2 and the sum round.
      if (std::abs(bits - 1) > 1e-7) {
        EXPECT_EQ(lacks_diversity(d, params), bits < 1);
      }
    }
  }
}

// Every histogram of up to 256 entries: none but 50/50 comes near a bit, so the tolerance in the comparison can neither
// forgive nor invent a penalty. The distance is that of the comparison, n times the entropy's: section 4 of
// docs/domain.md gives 0.004 for 100 entries (8, 10 and 61 come to 0.0044); at 256 it is still a thousand tolerances.
TEST(Diversity, DecidesEveryHistogramAsTheDefinitionDoes) {
  const EnvParams params = params_of(kMaxDiversityWindow);
  int wrong = 0;
  double nearest = 1, nearest_of_100 = 1;
  for (int n = 3; n <= kMaxDiversityWindow; ++n) {
    for (int a = 0; a <= n; ++a) {
      for (int b = 0; a + b <= n; ++b) {
        const Counts counts = {a, b, n - a - b};
        Diversity d = empty_diversity();
        d.size = static_cast<u16>(n);
        for (std::size_t c = 0; c < counts.size(); ++c) d.count[c] = static_cast<u16>(counts[c]);
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        if (*least == 0 && 2 * *most == n) {
          wrong += lacks_diversity(d, params);
          continue;
        }
        const double bits = entropy(counts);
        const double distance = n * std::abs(bits - 1);
        nearest = std::min(nearest, distance);
        if (n <= 100) nearest_of_100 = std::min(nearest_of_100, distance);
        wrong += lacks_diversity(d, params) != (bits < 1);
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(nearest_of_100, 0.004);
  EXPECT_GT(nearest, 1000 * 1e-9 * kMaxDiversityWindow);
}

TEST(Diversity, FiftyFiftyIsExactlyABit) {
  for (int window = 4; window <= kMaxDiversityWindow; window += 2) {
    const EnvParams params = params_of(window);
    for (const auto& [one, other] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}}) {
      Diversity d = empty_diversity();
      for (int t = 0; t < window; ++t) push_category(d, static_cast<Category>(t % 2 == 0 ? one : other), window);
      EXPECT_FALSE(lacks_diversity(d, params)) << window;
      push_category(d, static_cast<Category>(other), window);  // pushes out a `one`
      EXPECT_TRUE(lacks_diversity(d, params)) << window;
    }
  }
}

TEST(Diversity, FewerThanThreeEntriesAreNeverJudged) {
  const EnvParams params = params_of(3);
  EXPECT_FALSE(lacks_diversity(filled(params, {}), params));
  EXPECT_FALSE(lacks_diversity(filled(params, {1}), params));
  EXPECT_FALSE(lacks_diversity(filled(params, {1, 1}), params));
  EXPECT_TRUE(lacks_diversity(filled(params, {1, 1, 1}), params));
}

TEST(Diversity, AFullWindowForgetsItsOldest) {
  const EnvParams params = params_of(4);
  const Diversity full = filled(params, {0, 1, 2, 0});
  EXPECT_FALSE(lacks_diversity(full, params));  // 1.5 bits
  const Diversity rolled = filled(params, {0, 1, 2, 0, 0, 0});
  EXPECT_EQ(rolled.size, 4);
  EXPECT_EQ(rolled.count[0], 3);
  EXPECT_EQ(rolled.count[1], 0);
  EXPECT_EQ(rolled.count[2], 1);
  EXPECT_TRUE(lacks_diversity(rolled, params));  // 0.81 bits
}

// 3 : 1 has 2 - 0.75·log2 3 = 0.811 bits.
TEST(Diversity, TheThresholdIsConfigurable) {
  const Diversity d = filled(params_of(4), {0, 0, 0, 2});
  EXPECT_FALSE(lacks_diversity(d, params_of(4, 0.81)));
  EXPECT_TRUE(lacks_diversity(d, params_of(4, 0.82)));
  EXPECT_FALSE(lacks_diversity(filled(params_of(4), {0, 0, 0, 0}), params_of(4, 0.0)));
}

}  // namespace
}  // namespace warptape
