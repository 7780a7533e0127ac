// Where experiences go and which are drawn.
#include "replay/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "replay/experience.h"

namespace warptape {

namespace {

constexpr u64 kSeed = 0x0123456789ABCDEF;

std::vector<i64> draw(const Ring& ring, u64 update, int count, Draw stream = Draw::kReplay) {
  std::vector<i64> rows;
  for (int i = 0; i < count; ++i) rows.push_back(uniform_row(ring, kSeed, static_cast<u32>(i), update, stream));
  return rows;
}

TEST(ReplayRing, HoldsWholeStepsOnly) {
  EXPECT_EQ(make_ring(4, 10).capacity, 8);
  EXPECT_EQ(make_ring(4, 12).capacity, 12);
  EXPECT_EQ(make_ring(7, 7).capacity, 7);
  EXPECT_EQ(make_ring(262144, 2000000000).capacity, 1999896576);  // 7629 steps
  const Ring fresh = make_ring(4, 10);
  EXPECT_EQ(fresh.slots, 4);
  EXPECT_EQ(fresh.filled, 0);
  EXPECT_EQ(fresh.head, 0);
}

TEST(ReplayRing, AStepsSlotsLieTogetherAndItsSuccessorSlotsRowsOn) {
  const Ring ring = make_ring(4, 12);
  EXPECT_EQ(insert_row(ring, 0, 0), 0);
  EXPECT_EQ(insert_row(ring, 0, 3), 3);
  EXPECT_EQ(insert_row(ring, 1, 3), 7);
  EXPECT_EQ(insert_row(ring, 2, 0), 8);
}

TEST(ReplayRing, WrapsByWholeSteps) {
  Ring ring = make_ring(4, 15);  // three steps
  advance(ring, 2);
  EXPECT_EQ(ring.head, 8);
  EXPECT_EQ(ring.filled, 8);
  EXPECT_EQ(insert_row(ring, 0, 1), 9);
  EXPECT_EQ(insert_row(ring, 1, 1), 1);  // over the oldest
  advance(ring, 2);
  EXPECT_EQ(ring.head, 4);
  EXPECT_EQ(ring.filled, 12);
  advance(ring, 3);  // a whole turn
  EXPECT_EQ(ring.head, 4);
  EXPECT_EQ(ring.filled, 12);
}

TEST(ReplayRing, DrawsTheRowsThatThePhiloxReferenceDraws) {
  // tests/reference/philox.py: (word 0 of counter (index, update low, update high, 4) times filled) >> 32.
  Ring ring = make_ring(1, 64);
  ring.filled = 37;
  EXPECT_EQ(draw(ring, 0, 8), (std::vector<i64>{8, 13, 9, 36, 9, 3, 20, 12}));
  EXPECT_EQ(draw(ring, 5, 8), (std::vector<i64>{3, 17, 26, 11, 32, 2, 0, 15}));
  EXPECT_EQ(draw(ring, (u64{1} << 32) + 5, 8), (std::vector<i64>{28, 22, 4, 18, 0, 32, 14, 8}));
  EXPECT_EQ(draw(ring, 5, 8, Draw::kCuriosity), (std::vector<i64>{17, 29, 0, 12, 22, 31, 24, 14}));
}

TEST(ReplayRing, DrawsFromBillionsOfRows) {
  Ring ring = make_ring(1, 2000000000);
  ring.filled = 2000000000;
  EXPECT_EQ(draw(ring, 5, 3), (std::vector<i64>{205551951, 919197062, 1406775698}));
}

TEST(ReplayRing, DrawsUniformlyOverTheFilledRows) {
  Ring ring = make_ring(1, 64);
  ring.filled = 37;
  std::vector<double> count(64);
  constexpr int kBatch = 200, kUpdates = 185;
  for (u64 u = 0; u < kUpdates; ++u) {
    for (const i64 row : draw(ring, u, kBatch)) ++count.at(static_cast<std::size_t>(row));
  }
  EXPECT_TRUE(std::all_of(count.begin() + 37, count.end(), [](double c) { return c == 0; }));
  const double expected = kBatch * kUpdates / 37.0;
  double chi_square = 0;
  for (int row = 0; row < 37; ++row) {
    const double difference = count[static_cast<std::size_t>(row)] - expected;
    chi_square += difference * difference / expected;
  }
  EXPECT_LT(chi_square, 76.4);  // 36 degrees of freedom: one seed in ten thousand lies above
  EXPECT_GT(chi_square, 10.0);  // and as few below: rows dealt in turn would be too even
}

TEST(ReplayExperience, TravelBesideTheAction) {
  for (const int action : {0, 1, 44, 255}) {
    for (const bool terminal : {false, true}) {
      for (const bool truncated : {false, true}) {
        Experience e{};
        e.action_flags = pack_action(action, terminal, truncated);
        EXPECT_EQ(action_of(e), action);
        EXPECT_EQ(is_terminal(e), terminal);
        EXPECT_EQ(is_truncated(e), truncated);
      }
    }
  }
}

}  // namespace

}  // namespace warptape
