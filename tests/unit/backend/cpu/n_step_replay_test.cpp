// Replays of several steps against a history that keeps everything and knows no ring.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "backend/cpu/replay.h"
#include "unit/backend/cpu/test_worlds.h"

namespace warptape::cpu {

namespace {

using cpu_test::Uniform;

constexpr std::int64_t kSlots = 3, kSteps = 11;  // of the ring
constexpr std::uint64_t kSeed = 5;

/// What a slot went through at a step.
struct Moment {
  float reward;
  bool terminal, truncated, jumped;
  bool ends() const { return terminal || truncated || jumped; }
};

class History {
 public:
  explicit History(bool rounds_jump) : rounds_jump_(rounds_jump) {}

  /// A round of `steps`, as the collector would hand it over: bar = 1000·slot + step.
  std::vector<Experience> play(std::int64_t steps, Uniform& uniform) {
    std::vector<Experience> round;
    for (std::int64_t t = 0; t < steps; ++t) {
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        const double u = uniform();
        Moment m{};
        m.reward = static_cast<float>(static_cast<int>(uniform() * 16));
        m.terminal = u < 0.08;
        m.truncated = u > 0.9;
        m.jumped = rounds_jump_ && t == steps - 1;
        Experience e{};
        e.bar = static_cast<i32>(1000 * slot + slots_[slot].size());
        e.next[1] = static_cast<float>(e.bar) + 0.25f;
        e.reward = m.reward;
        e.action_flags = pack_action(3, m.terminal, m.truncated);
        round.push_back(e);
        slots_[slot].push_back(m);
      }
    }
    return round;
  }

  std::int64_t steps() const { return static_cast<std::int64_t>(slots_[0].size()); }
  std::int64_t oldest() const { return std::max<std::int64_t>(0, steps() - kSteps); }
  static std::int64_t row(std::int64_t slot, std::int64_t step) { return step % kSteps * kSlots + slot; }

  /// The moments of an n-step return from there; empty when it is not complete.
  std::vector<Moment> chain(std::int64_t slot, std::int64_t step, int n) const {
    std::vector<Moment> chain;
    for (std::int64_t s = step; s < steps(); ++s) {
      chain.push_back(slots_[static_cast<std::size_t>(slot)][static_cast<std::size_t>(s)]);
      if (chain.back().ends() || chain.size() == static_cast<std::size_t>(n)) return chain;
    }
    return {};
  }

  /// (slot, step) of all that may be drawn.
  std::vector<std::pair<std::int64_t, std::int64_t>> drawable(int n) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (std::int64_t step = oldest(); step < steps(); ++step) {
      for (std::int64_t slot = 0; slot < kSlots; ++slot) {
        if (!chain(slot, step, n).empty()) out.emplace_back(slot, step);
      }
    }
    return out;
  }

 private:
  bool rounds_jump_;
  std::vector<Moment> slots_[kSlots];
};

class NStepReplay : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  ReplayRules rules(bool prioritised) const {
    ReplayRules rules;
    std::tie(rules.n_step, rules.rounds_jump) = GetParam();
    rules.prioritised = prioritised;
    rules.alpha = 1;
    return rules;
  }
};

const std::vector<std::int64_t> kRounds = {1, 4, 1, 2, 11, 3, 1, 1, 10, 5, 7};

TEST_P(NStepReplay, DrawsAllCompleteReturnsAndNoOthers) {
  const auto [n, jump] = GetParam();
  Uniform uniform(17);
  History history(jump);
  Replay replay(kSlots, kSlots * kSteps + 1, rules(false));
  for (const std::int64_t steps : kRounds) {
    replay.insert(history.play(steps, uniform));
    std::set<std::int64_t> expected, drawn_rows;
    for (const auto& [slot, step] : history.drawable(n)) expected.insert(History::row(slot, step));
    ASSERT_EQ(replay.drawable(), static_cast<std::int64_t>(expected.size()));
    if (expected.empty()) continue;
    std::vector<std::int64_t> drawn(1000);  // of at most 33 rows: one of them is missed once in 10¹³
    replay.draw(kSeed, static_cast<std::uint64_t>(history.steps()), drawn);
    drawn_rows.insert(drawn.begin(), drawn.end());
    EXPECT_EQ(drawn_rows, expected);
  }
}

TEST_P(NStepReplay, TransitionsFollowTheTrueSuccessors) {
  const auto [n, jump] = GetParam();
  Uniform uniform(18);
  History history(jump);
  Replay replay(kSlots, kSlots * kSteps, rules(false));
  for (const std::int64_t steps : kRounds) {
    replay.insert(history.play(steps, uniform));
    for (const auto& [slot, step] : history.drawable(n)) {
      const std::vector<Moment> chain = history.chain(slot, step, n);
      // Backwards, with γ = ½: whole numbers over at most 2¹¹ are exact.
      float ret = 0, discount = 1;
      for (auto m = chain.rbegin(); m != chain.rend(); ++m) {
        ret = m->reward + 0.5f * ret;
        discount *= 0.5f;
      }
      const Transition t = replay.transition(History::row(slot, step), 0.5f);
      const auto last = static_cast<i32>(1000 * slot + step + static_cast<std::int64_t>(chain.size()) - 1);
      EXPECT_EQ(t.bar, 1000 * slot + step);
      EXPECT_EQ(t.ret, ret);
      EXPECT_EQ(t.discount, discount);
      EXPECT_EQ(t.next_bar, last + 1);
      EXPECT_EQ(t.next[1], static_cast<float>(last) + 0.25f);
      EXPECT_EQ(t.terminal != 0, chain.back().terminal);
      EXPECT_EQ(t.action, 3);
    }
  }
}

TEST_P(NStepReplay, MassesAreZeroUntilAReturnIsComplete) {
  const auto [n, jump] = GetParam();
  Uniform uniform(19);
  History history(jump);
  Replay replay(kSlots, kSlots * kSteps, rules(true));
  std::map<std::pair<std::int64_t, std::int64_t>, float> masses;  // by (slot, step), of all that ever could be drawn
  float largest = 1;
  for (const std::int64_t steps : kRounds) {
    replay.insert(history.play(steps, uniform));
    std::vector<float> expected(static_cast<std::size_t>(replay.size()));
    double total = 0;
    for (const auto& at : history.drawable(n)) {
      masses.try_emplace(at, largest);
      expected[static_cast<std::size_t>(History::row(at.first, at.second))] = masses[at];
      total += masses[at];
    }
    ASSERT_EQ(replay.masses(), expected);
    ASSERT_NEAR(replay.total_mass(), total, total * 1e-14);  // 33 additions of 1.1e-16
    if (history.drawable(n).empty()) continue;

    Replay restored(kSlots, kSlots * kSteps, rules(true));
    restored.restore(replay.ring(), {replay.rows().begin(), replay.rows().begin() + replay.size()}, replay.masses(),
                     replay.largest_mass());
    std::vector<std::int64_t> drawn(40), again(40);
    replay.draw(kSeed, static_cast<std::uint64_t>(history.steps()), drawn);
    restored.draw(kSeed, static_cast<std::uint64_t>(history.steps()), again);
    EXPECT_EQ(drawn, again);
    // New errors for a few rows: of alpha 1, the mass is the error and the epsilon.
    for (const auto& at : history.drawable(n)) {
      if (uniform() < 0.7) continue;
      const float error = static_cast<float>(uniform() * 3);
      const std::vector<std::int64_t> row = {History::row(at.first, at.second)};
      replay.set_errors(row, std::vector<float>{error}, replay.steps_inserted());
      masses[at] = error + 1e-6f;
      largest = std::max(largest, masses[at]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Steps, NStepReplay, ::testing::Combine(::testing::Values(1, 2, 3, 5, 11), ::testing::Bool()));

TEST(NStepReplayRows, StayAsTheyWereWithoutNeedOfACut) {
  // One-step returns never look past a row, so a checkpoint's bytes need not tell where classic rounds ended.
  for (const int n : {1, 2}) {
    ReplayRules rules;
    rules.n_step = n;
    rules.rounds_jump = true;
    Replay replay(2, 6, rules);
    replay.insert(std::vector<Experience>(6));
    for (std::int64_t row = 0; row < 6; ++row) {
      EXPECT_EQ(replay.row(row).action_flags, n > 1 && row >= 4 ? kCutFlag : 0) << n << ", " << row;
    }
  }
}

}  // namespace

}  // namespace warptape::cpu
