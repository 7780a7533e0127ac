// Priorities, importance weights and nodes of the tree of sums, one at a time.
#include "replay/priority.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace warptape {

namespace {

// powf is good to an ulp or two: 2.4e-7 of the value.
constexpr double kPower = 2.4e-7;

TEST(Priority, MassIsThePowerOfTheErrorPlusEpsilon) {
  EXPECT_NEAR(priority_mass(0.25f, 0.0f, 0.5f), 0.5, 0.5 * kPower);
  EXPECT_NEAR(priority_mass(-0.25f, 0.0f, 0.5f), 0.5, 0.5 * kPower);
  EXPECT_NEAR(priority_mass(3.0f, 1.0f, 0.5f), 2, 2 * kPower);
  EXPECT_NEAR(priority_mass(0.0f, 1e-6f, 1.0f), 1e-6, 1e-6 * kPower);
  EXPECT_NEAR(priority_mass(32.0f, 0.0f, 0.6f), 8, 8 * kPower);
  EXPECT_EQ(priority_mass(0.0f, 1e-6f, 0.0f), 1.0f);  // alpha 0: uniform
  EXPECT_EQ(priority_mass(1e9f, 1e-6f, 0.0f), 1.0f);
}

TEST(Priority, MassIsNeverZeroNorInfinite) {
  EXPECT_GT(priority_mass(0.0f, std::numeric_limits<float>::denorm_min(), 1.0f), 0.0f);
  EXPECT_TRUE(std::isfinite(priority_mass(std::numeric_limits<float>::max(), 1e6f, 1.0f)));
}

TEST(Priority, ImportanceWeightsByHand) {
  // Masses 1, 2, 4, 9 of a sum of 16 over N = 4: N·P = ¼, ½, 1, 2¼. To the power of −½: 2, √2, 1, ⅔; over the largest,
  // 1, 1/√2, ½, ⅓.
  const float mass[] = {1, 2, 4, 9};
  const double half[] = {1, std::sqrt(0.5), 0.5, 1.0 / 3};
  const double one[] = {1, 0.5, 0.25, 1.0 / 9};
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(importance_weight(mass[i], 1, 0.5f), half[i], kPower) << i;
    EXPECT_NEAR(importance_weight(mass[i], 1, 1.0f), one[i], kPower) << i;
    EXPECT_EQ(importance_weight(mass[i], 1, 0.0f), 1.0f) << i;
  }
}

TEST(Priority, NodeSumCountsEachChildOnce) {
  float leaves[kFanout] = {};
  double sums[kFanout] = {};
  for (int c = 0; c < kFanout; ++c) {
    leaves[c] = static_cast<float>(1 << c);
    sums[c] = std::ldexp(1.0, 3 * c);
  }
  EXPECT_EQ(node_sum(leaves), 65535);
  EXPECT_EQ(node_sum(sums), (std::ldexp(1.0, 48) - 1) / 7);
}

/// The child, and what is left of the target.
std::pair<int, double> pick(std::vector<float> mass, double target) {
  mass.resize(kFanout);
  const int child = pick_child(mass.data(), target);
  return {child, target};
}

TEST(Priority, PickTakesTheChildInWhichTheTargetFalls) {
  EXPECT_EQ(pick({2, 3, 4}, 0), std::pair(0, 0.0));
  EXPECT_EQ(pick({2, 3, 4}, 1.5), std::pair(0, 1.5));
  EXPECT_EQ(pick({2, 3, 4}, 2), std::pair(1, 0.0));
  EXPECT_EQ(pick({2, 3, 4}, 8.5), std::pair(2, 3.5));
}

TEST(Priority, PickNeverTakesAChildWithoutMass) {
  EXPECT_EQ(pick({0, 3, 0, 4, 0}, 0).first, 1);
  EXPECT_EQ(pick({0, 3, 0, 4, 0}, 3).first, 3);
  EXPECT_EQ(pick({0, 3, 0, 4, 0}, 7).first, 3);  // the end itself, and past it: what rounding can do
  EXPECT_EQ(pick({0, 3, 0, 4, 0}, 7.5), std::pair(3, 4.0));
  EXPECT_EQ(pick({0, 0, 0, 0, 0, 1e-30f}, 5).first, 5);
  EXPECT_EQ(pick({0x1p100f, 1e-30f}, 0x1p100).first, 1);
}

TEST(Priority, TargetsLieInTheSharesOfTheirPlaces) {
  const Philox4 least{}, most{{~0u, ~0u, ~0u, ~0u}}, half{{1u << 31, 0, 0, 0}};
  for (const u32 batch : {1u, 3u, 256u}) {
    for (const u32 place : {0u, batch / 2, batch - 1}) {
      const double share = 12.0 / batch;
      EXPECT_DOUBLE_EQ(stratified_target(least, place, batch, 12), place * share);
      EXPECT_DOUBLE_EQ(stratified_target(half, place, batch, 12), (place + 0.5) * share);
      const double top = stratified_target(most, place, batch, 12);
      EXPECT_LE(top, 12);
      EXPECT_NEAR(top, (place + 1) * share, 1e-12);
    }
  }
}

TEST(Priority, TargetsReachBetweenTheNumbersOf32Bits) {
  // A ring of billions of rows has more rows than a word has values.
  const double one = stratified_target({{5, 1u << 31, 0, 0}}, 0, 1, 0x1p32);
  EXPECT_EQ(one, 5.5);
}

}  // namespace

}  // namespace warptape
