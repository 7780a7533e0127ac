// How a step's action is chosen beside the greedy one: the classic LCG and the Philox path.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/philox.h"
#include "env/step.h"

namespace warptape {
namespace {

constexpr int kActions = 45;
constexpr u64 kSeed = 0x0123456789ABCDEFu;

int classic(u32& lcg, double epsilon, int greedy) {
  Slot<float> slot{};
  slot.lcg = lcg;
  const int action = explore<kClassicRules>(slot, kSeed, 3, 7, epsilon, kActions, greedy);
  lcg = slot.lcg;
  return action;
}

int market(u32 slot_index, u64 global_step, double epsilon, int greedy) {
  Slot<double> slot{};
  return explore<kMarketRules>(slot, kSeed, slot_index, global_step, epsilon, kActions, greedy);
}

// From 0: 3C6EF35F, 47502932, D1CCF6E9, AAF95334 (Numerical Recipes, section 7.1); the low 23 bits over 8388607.
TEST(ExploreClassic, TheGeneratorByHand) {
  u32 x = 0;
  EXPECT_FLOAT_EQ(classic_uniform(x), 7271263.0f / 8388607.0f);
  EXPECT_EQ(x, 0x3C6EF35Fu);
  EXPECT_FLOAT_EQ(classic_uniform(x), 5253426.0f / 8388607.0f);
  EXPECT_EQ(x, 0x47502932u);
  EXPECT_FLOAT_EQ(classic_uniform(x), 5043945.0f / 8388607.0f);
  EXPECT_EQ(x, 0xD1CCF6E9u);
  EXPECT_FLOAT_EQ(classic_uniform(x), 7951156.0f / 8388607.0f);
  EXPECT_EQ(x, 0xAAF95334u);
}

// u = 0.867, 0.626, 0.601, 0.948: explore with 28 of 45 (0.626·45 = 28.2), then with 42 (0.948·45 = 42.7).
TEST(ExploreClassic, DrawsTheActionOnlyWhenExploring) {
  u32 x = 0;
  EXPECT_EQ(classic(x, 0.9, 5), 28);
  EXPECT_EQ(x, 0x47502932u);
  EXPECT_EQ(classic(x, 0.9, 5), 42);
  EXPECT_EQ(x, 0xAAF95334u);

  u32 y = 0;
  EXPECT_EQ(classic(y, 0.5, 5), 5);
  EXPECT_EQ(y, 0x3C6EF35Fu) << "one draw";
}

// The states before 007FFFFF, out of the inverse of the multiplier: u = 1 is no exploration even at epsilon 1, and
// int(1·A) mod A is action 0.
TEST(ExploreClassic, TheLargestDrawIsOne) {
  constexpr u32 kTop = 0x007FFFFFu;
  constexpr u32 kInverse = 0xFEE058C5u;  // of 1664525, modulo 2^32
  static_assert(kInverse * 1664525u == 1u);
  const u32 before_top = (kTop - 1013904223u) * kInverse;
  u32 x = before_top;
  EXPECT_EQ(classic_uniform(x), 1.0f);
  u32 y = before_top;
  EXPECT_EQ(classic(y, 1.0, 9), 9);
  u32 z = (before_top - 1013904223u) * kInverse;
  EXPECT_EQ(classic(z, 1.0, 9), 0);
  EXPECT_EQ(z, kTop);
}

TEST(ExploreClassic, EpsilonZeroIsGreedy) {
  u32 x = 12345;
  for (int t = 0; t < 1000; ++t) EXPECT_EQ(classic(x, 0.0, 17), 17);
}

// Section 6 of docs/domain.md: counter (slot, step low, step high, draw 0), key the seed; word 0 decides, word 1
// chooses.
TEST(ExploreMarket, FollowsFromTheCounter) {
  for (const u32 slot : {0u, 1u, 262143u}) {
    for (const u64 step : {u64{0}, u64{41}, (u64{9} << 32) + 5}) {
      const Philox4 words =
          philox4x32_10({{slot, static_cast<u32>(step), static_cast<u32>(step >> 32), 0u}}, 0x89ABCDEFu, 0x01234567u);
      const double u = static_cast<double>(words.word[0]) / 4294967296.0;
      const int drawn = static_cast<int>(std::floor(static_cast<double>(words.word[1]) * kActions / 4294967296.0));
      EXPECT_EQ(market(slot, step, 1.0, 99), drawn);
      EXPECT_EQ(market(slot, step, std::nextafter(u, 1.0), 99), drawn);
      EXPECT_EQ(market(slot, step, u, 99), 99) << "u < epsilon explores, u = epsilon does not";
    }
  }
}

TEST(ExploreMarket, EpsilonZeroIsGreedyAndOneNever) {
  for (u64 step = 0; step < 1000; ++step) {
    EXPECT_EQ(market(0, step, 0.0, 17), 17);
    EXPECT_NE(market(0, step, 1.0, kActions), kActions) << "a greedy action that no draw can give";
  }
}

// The slot's own state takes no part: a replayed step draws the same.
TEST(ExploreMarket, LeavesTheSlotAlone) {
  Slot<double> slot{};
  slot.lcg = 77;
  const int first = explore<kMarketRules>(slot, kSeed, 4, 2, 1.0, kActions, 0);
  EXPECT_EQ(slot.lcg, 77u);
  EXPECT_EQ(explore<kMarketRules>(slot, kSeed, 4, 2, 1.0, kActions, 0), first);
}

/// Checks counts of actions against epsilon·n/A each, and the greedy one against the rest, to 5 deviations.
void expect_frequencies(const std::vector<int>& counts, int draws, double epsilon, int greedy) {
  for (int a = 0; a < kActions; ++a) {
    const double p = epsilon / kActions + (a == greedy ? 1 - epsilon : 0);
    const double deviation = std::sqrt(draws * p * (1 - p));
    EXPECT_NEAR(counts[static_cast<std::size_t>(a)], draws * p, 5 * deviation) << "action " << a;
  }
}

TEST(ExploreMarket, FrequenciesAcrossSlotsAndSteps) {
  std::vector<int> counts(kActions);
  for (u32 slot = 0; slot < 300; ++slot) {
    for (u64 step = 0; step < 300; ++step) ++counts[static_cast<std::size_t>(market(slot, step, 0.4, 7))];
  }
  expect_frequencies(counts, 300 * 300, 0.4, 7);
}

TEST(ExploreClassic, FrequenciesAlongAStream) {
  std::vector<int> counts(kActions);
  u32 x = 2024;
  for (int t = 0; t < 90000; ++t) ++counts[static_cast<std::size_t>(classic(x, 0.4, 7))];
  expect_frequencies(counts, 90000, 0.4, 7);
}

}  // namespace
}  // namespace warptape
