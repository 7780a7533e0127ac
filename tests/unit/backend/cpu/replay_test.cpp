// The replay's rows against a list that keeps everything.
#include "backend/cpu/replay.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "core/check.h"

namespace warptape::cpu {

namespace {

/// A round of experiences whose bars count on from `first`.
std::vector<Experience> counted_round(std::int64_t rows, i32 first) {
  std::vector<Experience> round(static_cast<std::size_t>(rows));
  for (Experience& e : round) e.bar = first++;
  return round;
}

TEST(CpuReplay, FillsFromTheFirstRowInOrder) {
  Replay replay(2, 9);  // four steps of two slots
  EXPECT_EQ(replay.size(), 0);
  EXPECT_EQ(replay.rows().size(), 8u);
  replay.insert(counted_round(6, 0));
  EXPECT_EQ(replay.size(), 6);
  for (int row = 0; row < 6; ++row) EXPECT_EQ(replay.row(row).bar, row);
}

TEST(CpuReplay, OverwritesTheOldestSteps) {
  Replay replay(2, 9);
  replay.insert(counted_round(6, 0));
  replay.insert(counted_round(6, 6));  // rows 6, 7, then 0 to 3
  const std::vector<i32> expected = {8, 9, 10, 11, 4, 5, 6, 7};
  for (std::size_t row = 0; row < expected.size(); ++row) {
    EXPECT_EQ(replay.row(static_cast<std::int64_t>(row)).bar, expected[row]) << row;
  }
  EXPECT_EQ(replay.size(), 8);
  EXPECT_EQ(replay.ring().head, 4);
}

TEST(CpuReplay, KeepsTheLastStepsWhateverTheRounds) {
  constexpr std::int64_t kSlots = 3, kSteps = 7;
  Replay replay(kSlots, kSlots * kSteps + 2);
  std::deque<std::vector<i32>> steps;  // newest last
  i32 next = 0;
  for (const std::int64_t length : {1, 7, 2, 5, 3, 7, 6, 4, 1}) {
    for (std::int64_t t = 0; t < length; ++t) {
      const i32 first = next + static_cast<i32>(t * kSlots);
      steps.push_back({first, first + 1, first + 2});
      if (steps.size() > kSteps) steps.pop_front();
    }
    replay.insert(counted_round(length * kSlots, next));
    next += static_cast<i32>(length * kSlots);

    const std::int64_t count = static_cast<std::int64_t>(steps.size());
    ASSERT_EQ(replay.size(), count * kSlots);
    // Walking back from the head, one finds the steps from the newest to the oldest.
    std::int64_t row = replay.ring().head;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      row = (row + (kSteps - 1) * kSlots) % (kSteps * kSlots);
      for (std::int64_t slot = 0; slot < kSlots; ++slot) {
        ASSERT_EQ(replay.row(row + slot).bar, (*step)[static_cast<std::size_t>(slot)]);
      }
    }
  }
}

TEST(CpuReplay, RefusesARoundThatDoesNotFit) {
  Replay replay(2, 9);
  EXPECT_THROW(replay.insert(counted_round(5, 0)), Bug);   // no whole number of steps
  EXPECT_THROW(replay.insert(counted_round(10, 0)), Bug);  // more than the ring holds
}

TEST(CpuReplay, GoesOnFromWhatWasRestored) {
  Replay one(2, 8), other(2, 8);
  one.insert(counted_round(6, 0));
  other.restore(one.ring(), {one.rows().begin(), one.rows().begin() + 6});
  one.insert(counted_round(4, 6));
  other.insert(counted_round(4, 6));
  EXPECT_EQ(one.ring().head, other.ring().head);
  EXPECT_EQ(one.size(), other.size());
  for (std::int64_t row = 0; row < one.size(); ++row) EXPECT_EQ(one.row(row).bar, other.row(row).bar) << row;
}

TEST(CpuReplay, RefusesAStateOfAnotherRing) {
  Replay replay(2, 8);
  EXPECT_THROW(replay.restore(make_ring(2, 6), {}), Bug);
  EXPECT_THROW(replay.restore(make_ring(4, 8), {}), Bug);
  Ring ring = make_ring(2, 8);
  ring.filled = 4;
  EXPECT_THROW(replay.restore(ring, counted_round(2, 0)), Bug);
}

}  // namespace

}  // namespace warptape::cpu
