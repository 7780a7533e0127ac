// Returns of several steps by hand: what they add up, where they end, from which rows they may begin.
#include "replay/n_step.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace warptape {

namespace {

/// A row whose bar and numbers tell where it comes from: bar 100·slot + step, next[0] half a step on.
Experience row_of(int step, int slot, float reward, u32 flags = 0) {
  Experience e{};
  e.bar = 100 * slot + step;
  e.now[0] = static_cast<float>(step);
  e.next[0] = static_cast<float>(step) + 0.5f;
  e.action_flags = pack_action(7, false, false) | flags;
  e.reward = reward;
  return e;
}

/// Six steps of two slots in a ring of six: slot 0 is truncated at step 3, slot 1 ends for good at step 1.
struct TwoSlots {
  TwoSlots() {
    const float slot0[] = {1, 2, 4, 8, 16, 32}, slot1[] = {3, 5, 7, 9, 11, 13};
    for (int t = 0; t < 6; ++t) {
      rows.push_back(row_of(t, 0, slot0[t], t == 3 ? kTruncatedFlag : 0));
      rows.push_back(row_of(t, 1, slot1[t], t == 1 ? kTerminalFlag : 0));
    }
    advance(ring, 6);
  }

  /// Two more steps, over the oldest.
  void wrap() {
    rows[0] = row_of(6, 0, 64);
    rows[1] = row_of(6, 1, 15);
    rows[2] = row_of(7, 0, 128);
    rows[3] = row_of(7, 1, 17);
    advance(ring, 2);
  }

  std::set<i64> drawable(i64 n) const {
    std::set<i64> out;
    for (i64 row = 0; row < ring.filled; ++row) {
      if (is_drawable(ring, rows.data(), row, n)) out.insert(row);
    }
    return out;
  }

  /// With γ = ½, every number is exact.
  void expect(i64 row, int n, float ret, float discount, int last_step, bool terminal) const {
    const Transition t = n_step_transition(ring, rows.data(), row, n, 0.5f);
    const Experience& first = rows[static_cast<std::size_t>(row)];
    EXPECT_EQ(t.ret, ret) << "row " << row << ", n " << n;
    EXPECT_EQ(t.discount, discount) << "row " << row << ", n " << n;
    EXPECT_EQ(t.next_bar, first.bar / 100 * 100 + last_step + 1) << "row " << row << ", n " << n;
    EXPECT_EQ(t.next[0], static_cast<float>(last_step) + 0.5f) << "row " << row << ", n " << n;
    EXPECT_EQ(t.terminal, terminal ? 1u : 0u) << "row " << row << ", n " << n;
    EXPECT_EQ(t.bar, first.bar);
    EXPECT_EQ(t.now[0], first.now[0]);
    EXPECT_EQ(t.action, 7);
    EXPECT_EQ(t.weight, 1.0f);
  }

  Ring ring = make_ring(2, 12);
  std::vector<Experience> rows;
};

std::set<i64> all_but(i64 count, const std::set<i64>& missing) {
  std::set<i64> out;
  for (i64 row = 0; row < count; ++row) {
    if (!missing.count(row)) out.insert(row);
  }
  return out;
}

TEST(NStep, OfOneStepIsTheRowItself) {
  const TwoSlots world;
  EXPECT_EQ(world.drawable(1), all_but(12, {}));
  world.expect(0, 1, 1, 0.5f, 0, false);
  world.expect(6, 1, 8, 0.5f, 3, false);  // truncated: bootstraps
  world.expect(3, 1, 5, 0.5f, 1, true);
  world.expect(11, 1, 13, 0.5f, 5, false);
}

TEST(NStep, OfTwoSteps) {
  const TwoSlots world;
  EXPECT_EQ(world.drawable(2), all_but(12, {10, 11}));  // the newest step, of episodes that go on
  world.expect(0, 2, 1 + 1, 0.25f, 1, false);
  world.expect(2, 2, 2 + 2, 0.25f, 2, false);
  world.expect(4, 2, 4 + 4, 0.25f, 3, false);
  world.expect(6, 2, 8, 0.5f, 3, false);  // its own truncation ends the return
  world.expect(8, 2, 16 + 16, 0.25f, 5, false);
  world.expect(1, 2, 3 + 2.5f, 0.25f, 1, true);
  world.expect(3, 2, 5, 0.5f, 1, true);
  world.expect(5, 2, 7 + 4.5f, 0.25f, 3, false);
  world.expect(9, 2, 11 + 6.5f, 0.25f, 5, false);
}

TEST(NStep, OfFiveSteps) {
  const TwoSlots world;
  // Of the newest four steps only those of slot 0 before its truncation, steps 2 and 3.
  EXPECT_EQ(world.drawable(5), (std::set<i64>{0, 1, 2, 3, 4, 6}));
  world.expect(0, 5, 1 + 1 + 1 + 1, 0.0625f, 3, false);
  world.expect(2, 5, 2 + 2 + 2, 0.125f, 3, false);
  world.expect(4, 5, 4 + 4, 0.25f, 3, false);
  world.expect(6, 5, 8, 0.5f, 3, false);
  world.expect(1, 5, 3 + 2.5f, 0.25f, 1, true);
  world.expect(3, 5, 5, 0.5f, 1, true);
}

TEST(NStep, GoesOnOverTheRingsEndAndNeverOverItsHead) {
  TwoSlots world;
  world.wrap();  // steps 2 to 7; step 6 is in row 0, and the head is row 4
  EXPECT_EQ(world.drawable(5), (std::set<i64>{4, 5, 6, 7}));
  EXPECT_EQ(world.drawable(2), all_but(12, {2, 3}));  // step 7
  EXPECT_EQ(world.drawable(1), all_but(12, {}));
  world.expect(4, 5, 4 + 4, 0.25f, 3, false);
  world.expect(6, 5, 8, 0.5f, 3, false);
  world.expect(5, 5, 7 + 4.5f + 2.75f + 1.625f + 0.9375f, 0.03125f, 6, false);
  world.expect(7, 5, 9 + 5.5f + 3.25f + 1.875f + 1.0625f, 0.03125f, 7, false);
  world.expect(10, 2, 32 + 32, 0.25f, 6, false);
  world.expect(1, 2, 15 + 8.5f, 0.25f, 7, false);
}

TEST(NStep, AJumpOfTheSlotEndsAReturnAndBootstraps) {
  TwoSlots world;
  // A round of three steps ended at step 2, and the slots jumped.
  world.rows[4].action_flags |= kCutFlag;
  world.rows[5].action_flags |= kCutFlag;
  world.expect(0, 5, 1 + 1 + 1, 0.125f, 2, false);
  world.expect(4, 5, 4, 0.5f, 2, false);
  world.expect(5, 5, 7, 0.5f, 2, false);
  world.expect(1, 5, 3 + 2.5f, 0.25f, 1, true);
  EXPECT_EQ(world.drawable(5), (std::set<i64>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(action_of(world.rows[4]), 7);
  EXPECT_FALSE(is_terminal(world.rows[4]) || is_truncated(world.rows[4]));
}

TEST(NStep, ARowOfZerosIsWorthItsReward) {
  Ring ring = make_ring(1, 3);
  advance(ring, 3);
  std::vector<Experience> rows = {row_of(0, 0, 1, kTerminalFlag), {}, {}};
  for (int i : {1, 2}) {  // as the collector writes them, past the end of the data
    rows[static_cast<std::size_t>(i)].bar = -1;
    rows[static_cast<std::size_t>(i)].action_flags = pack_action(0, true, false);
  }
  EXPECT_EQ(n_step_transition(ring, rows.data(), 0, 3, 0.5f).ret, 1);
  const Transition zeros = n_step_transition(ring, rows.data(), 1, 3, 0.5f);
  EXPECT_EQ(zeros.bar, -1);
  EXPECT_EQ(zeros.next_bar, -1);
  EXPECT_EQ(zeros.ret, 0);
  EXPECT_EQ(zeros.terminal, 1u);
  EXPECT_TRUE(is_drawable(ring, rows.data(), 2, 3));
}

TEST(NStepRing, AgesCountBackFromTheHead) {
  Ring ring = make_ring(3, 12);
  advance(ring, 2);
  EXPECT_EQ(age_of(ring, 0), 1);
  EXPECT_EQ(age_of(ring, 5), 0);
  advance(ring, 2);  // full: the head is row 0
  EXPECT_EQ(age_of(ring, 11), 0);
  EXPECT_EQ(age_of(ring, 1), 3);
  advance(ring, 1);  // row 3 is the oldest, row 0 the newest
  EXPECT_EQ(age_of(ring, 2), 0);
  EXPECT_EQ(age_of(ring, 9), 1);
  EXPECT_EQ(age_of(ring, 3), 3);
  EXPECT_EQ(row_of_age(ring, 0), 0);
  EXPECT_EQ(row_of_age(ring, 1), 9);
  EXPECT_EQ(row_of_age(ring, 3), 3);
  EXPECT_EQ(next_row(ring, 4), 7);
  EXPECT_EQ(next_row(ring, 11), 2);
}

TEST(NStepRing, SettledRowsAreThoseOutsideTheEdge) {
  for (const i64 steps : {1, 2, 4, 5, 7, 10}) {  // inserted into a ring of five steps
    Ring ring = make_ring(3, 15);
    advance(ring, steps);
    for (const i64 n : {1, 2, 3, 5, 6, 9}) {
      std::vector<i64> expected;  // all rows, in order, whose step is older than the newest n − 1
      for (i64 row = 0; row < ring.filled; ++row) {
        if (age_of(ring, row) >= n - 1) expected.push_back(row);
      }
      ASSERT_EQ(ring.filled - edge_rows(ring, n), static_cast<i64>(expected.size())) << steps << ", " << n;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(settled_row(ring, n, static_cast<i64>(k)), expected[k]) << steps << ", " << n;
      }
    }
  }
}

}  // namespace

}  // namespace warptape
