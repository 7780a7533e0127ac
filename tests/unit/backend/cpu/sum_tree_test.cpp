// The tree of sums against plain arrays.
#include "backend/cpu/sum_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "unit/backend/cpu/test_worlds.h"

namespace warptape::cpu {

namespace {

using cpu_test::Uniform;

const std::vector<std::int64_t> kSizes = {1, 2, 15, 16, 17, 255, 256, 257, 4096, 4097, 70000};

/// Masses that are small whole numbers, a third of them 0: every sum of them is exact.
std::vector<float> whole_masses(std::int64_t count, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<float> masses;
  for (std::int64_t i = 0; i < count; ++i) {
    const double u = uniform();
    masses.push_back(u < 0.33 ? 0.0f : std::floor(static_cast<float>(u * 100)));
  }
  return masses;
}

void fill(SumTree& tree, const std::vector<float>& masses) {
  for (std::size_t i = 0; i < masses.size(); ++i) tree.set_leaf(static_cast<std::int64_t>(i), masses[i]);
  tree.rebuild(0, static_cast<std::int64_t>(masses.size()));
}

TEST(SumTree, FindsWhatALinearSearchFinds) {
  for (const std::int64_t size : kSizes) {
    std::vector<float> masses = whole_masses(size, 7);
    masses[static_cast<std::size_t>(size / 2)] = 3;  // never all 0
    SumTree tree(size);
    fill(tree, masses);
    double total = 0;
    for (const float m : masses) total += m;
    ASSERT_EQ(tree.total(), total) << size;
    // Every leaf by its first, middle and last target.
    double before = 0;
    const std::int64_t stride = size > 5000 ? 37 : 1;
    for (std::int64_t i = 0; i < size; ++i) {
      const double m = masses[static_cast<std::size_t>(i)];
      if (m > 0 && i % stride == 0) {
        for (const double part : {0.0, 0.5, 0.999}) ASSERT_EQ(tree.find(before + part * m), i) << size;
      }
      before += m;
    }
  }
}

TEST(SumTree, SetAndRebuildAgree) {
  for (const std::int64_t size : kSizes) {
    const std::vector<float> masses = whole_masses(size, 8);
    SumTree one(size), other(size);
    fill(one, masses);
    for (std::int64_t i = size - 1; i >= 0; --i) other.set(i, masses[static_cast<std::size_t>(i)]);
    EXPECT_EQ(one.total(), other.total()) << size;
    // A part in the middle.
    const std::int64_t first = size / 3, count = size / 2;
    for (std::int64_t i = first; i < first + count; ++i) {
      one.set_leaf(i, 5);
      other.set(i, 5);
    }
    one.rebuild(first, count);
    ASSERT_EQ(one.total(), other.total()) << size;
    for (double target = 0.5; target < one.total(); target += one.total() / 50) {
      ASSERT_EQ(one.find(target), other.find(target)) << size;
    }
  }
}

TEST(SumTree, DoesNotDriftOverAMillionUpdates) {
  constexpr std::int64_t kLeaves = 5000;
  Uniform uniform(3);
  SumTree tree(kLeaves), whole(kLeaves);
  std::vector<float> masses(kLeaves);
  for (int update = 0; update < 1000000; ++update) {
    const auto leaf = static_cast<std::int64_t>(uniform() * kLeaves);
    // From 1e-6 to 1e6, so that a difference added to a sum would lose the small ones.
    const auto mass = static_cast<float>(std::pow(10.0, 12 * uniform() - 6));
    masses[static_cast<std::size_t>(leaf)] = mass;
    tree.set(leaf, mass);
  }
  fill(whole, masses);
  EXPECT_EQ(tree.total(), whole.total());
  // The exact sum, from the smallest to the largest in 64 bits of mantissa. A number is rounded to 1.1e-16 of the sum
  // at most six times on each of four levels.
  std::sort(masses.begin(), masses.end());
  long double exact = 0;
  for (const float m : masses) exact += m;
  EXPECT_NEAR(tree.total(), static_cast<double>(exact), static_cast<double>(exact) * 24 * 1.2e-16);
  // Back to whole numbers: nothing of the past is left.
  const std::vector<float> last = whole_masses(kLeaves, 4);
  double total = 0;
  for (std::int64_t i = 0; i < kLeaves; ++i) {
    tree.set(i, last[static_cast<std::size_t>(i)]);
    total += last[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(tree.total(), total);
}

TEST(SumTree, NeverFindsALeafWithoutMass) {
  Uniform uniform(5);
  constexpr std::int64_t kLeaves = 3000;
  SumTree tree(kLeaves);
  for (std::int64_t i = 0; i < kLeaves; ++i) {
    // Sizes far apart, so that every sum is rounded, and nine leaves of ten empty.
    const bool empty = uniform() < 0.9;
    tree.set(i, empty ? 0.0f : static_cast<float>(std::pow(10.0, 30 * uniform() - 15)));
  }
  for (int i = 0; i < 20000; ++i) {
    const double u = i < 100 ? 1 - i * 1.2e-16 : uniform();
    EXPECT_GT(tree.mass(tree.find(u * tree.total())), 0);
  }
  EXPECT_GT(tree.mass(tree.find(0)), 0);
  EXPECT_GT(tree.mass(tree.find(tree.total() * (1 + 1e-12))), 0);
}

TEST(SumTree, EqualMassesSplitEvenly) {
  constexpr std::int64_t kLeaves = 1000;
  SumTree tree(kLeaves);
  fill(tree, std::vector<float>(kLeaves, 0.1f));
  for (std::int64_t i = 0; i < kLeaves; ++i) {
    EXPECT_EQ(tree.find((static_cast<double>(i) + 0.5) / kLeaves * tree.total()), i);
  }
}

TEST(SumTree, OneHugeMassTakesNearlyAllAndTheRestStaysWithinReach) {
  SumTree tree(300);
  fill(tree, std::vector<float>(300, 1));
  tree.set(100, 1e30f);
  for (const double u : {1e-20, 0.1, 0.5, 0.9, 1 - 1e-12}) EXPECT_EQ(tree.find(u * tree.total()), 100);
  EXPECT_EQ(tree.find(99.5), 99);
  tree.set(100, 0);
  EXPECT_EQ(tree.total(), 299);
  EXPECT_EQ(tree.find(100), 101);
}

}  // namespace

}  // namespace warptape::cpu
