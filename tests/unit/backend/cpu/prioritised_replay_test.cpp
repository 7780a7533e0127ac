// Which rows are drawn how often, and what their masses become.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/replay.h"

namespace warptape::cpu {

namespace {

constexpr std::uint64_t kSeed = 0x0123456789ABCDEF;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

ReplayRules prioritised(float alpha, int n_step = 1) {
  ReplayRules rules;
  rules.prioritised = true;
  rules.alpha = alpha;
  rules.epsilon = 1e-6f;
  rules.n_step = n_step;
  return rules;
}

/// Σ (count − expected)²/expected, with the counts' own total.
double chi_square(const std::vector<double>& count, const std::vector<double>& weight) {
  double total = 0, sum = 0, result = 0;
  for (const double c : count) total += c;
  for (const double w : weight) sum += w;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const double expected = total * weight[i] / sum;
    result += (count[i] - expected) * (count[i] - expected) / expected;
  }
  return result;
}

// With 399 degrees of freedom one seed in ten thousand lies above, and as few below (Wilson and Hilferty's formula,
// 399·(1 − a ± 3.719·√a)³ with a = 2/(9·399), good to a tenth here).
constexpr double kAbove = 512.8, kBelow = 302.8;

/// 400 rows whose TD errors go from 0.1 to 1.
class DrawFrequencies : public ::testing::Test {
 protected:
  static constexpr std::size_t kRows = 400;

  DrawFrequencies() {
    for (std::size_t i = 0; i < kRows; ++i) {
      rows_.push_back(static_cast<std::int64_t>(i));
      errors_.push_back(0.1f + 0.9f * static_cast<float>(i * 7 % kRows) / kRows);
    }
  }

  std::vector<double> powers(double alpha) const {
    std::vector<double> out;
    for (const float e : errors_) out.push_back(std::pow(static_cast<double>(e) + 1e-6, alpha));
    return out;
  }

  std::vector<double> count(float alpha, std::size_t batch, std::uint64_t updates) const {
    Replay replay(4, kRows, prioritised(alpha));
    replay.insert(std::vector<Experience>(kRows));
    replay.set_errors(rows_, errors_, replay.steps_inserted());
    std::vector<double> counts(kRows);
    std::vector<std::int64_t> drawn(batch);
    for (std::uint64_t u = 0; u < updates; ++u) {
      replay.draw(kSeed, u, drawn);
      for (const std::int64_t row : drawn) ++counts.at(static_cast<std::size_t>(row));
    }
    return counts;
  }

  std::vector<std::int64_t> rows_;
  std::vector<float> errors_;
};

TEST_F(DrawFrequencies, AreThePowersOfTheErrors) {
  for (const float alpha : {0.0f, 0.6f, 1.0f}) {
    const std::vector<double> counts = count(alpha, 1, 100000);  // one place: independent draws
    EXPECT_LT(chi_square(counts, powers(alpha)), kAbove) << alpha;
    EXPECT_GT(chi_square(counts, powers(alpha)), kBelow) << alpha;
  }
}

TEST_F(DrawFrequencies, WouldBeToldFromAnothersDistribution) {
  const std::vector<double> counts = count(0.6f, 1, 100000);
  EXPECT_GT(chi_square(counts, powers(0.5)), kAbove);
  EXPECT_GT(chi_square(counts, powers(0.7)), kAbove);
  EXPECT_GT(chi_square(counts, powers(0)), kAbove);
}

TEST_F(DrawFrequencies, OfABatchAreStratified) {
  constexpr std::size_t kBatch = 200;
  const std::vector<double> power = powers(1);
  double sum = 0;
  for (const double p : power) sum += p;
  for (std::uint64_t update = 0; update < 20; ++update) {
    Replay replay(4, kRows, prioritised(1));
    replay.insert(std::vector<Experience>(kRows));
    std::vector<float> errors = errors_;
    errors[17] = 40;  // takes a sixth of the batch
    replay.set_errors(rows_, errors, replay.steps_inserted());
    std::vector<std::int64_t> drawn(kBatch);
    replay.draw(kSeed, update, drawn);
    const double share = kBatch * 40.0 / (sum - power[17] + 40);
    // A stretch of `share` places covers all but the two at its ends.
    EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 17)), share, 2) << update;
    EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  }
  // Less even than independent draws they cannot be.
  EXPECT_LT(chi_square(count(1, kBatch, 500), power), kAbove);
}

TEST(UniformDraws, OfThreeStepsAreEvenOverTheDrawableRows) {
  ReplayRules rules;
  rules.n_step = 3;
  Replay replay(4, 404, rules);
  std::vector<Experience> round(240);
  replay.insert(round);
  round[236].action_flags = kTruncatedFlag;  // slot 0 ends with the newest step, slot 1 one step before
  round[233].action_flags = kTerminalFlag;
  replay.insert(round);  // over the ring's end
  ASSERT_EQ(replay.ring().head, 76);
  // All 404 rows but the newest two steps of slots 2 and 3 and the newest of slot 1.
  ASSERT_EQ(replay.drawable(), 404 - 5);
  std::vector<double> counts(404);
  std::vector<std::int64_t> drawn(100);
  for (std::uint64_t u = 0; u < 1000; ++u) {
    replay.draw(kSeed, u, drawn);
    for (const std::int64_t row : drawn) ++counts.at(static_cast<std::size_t>(row));
  }
  for (const std::int64_t row : {70, 71, 73, 74, 75}) EXPECT_EQ(counts[static_cast<std::size_t>(row)], 0) << row;
  std::erase(counts, 0);
  ASSERT_EQ(counts.size(), 399u);
  EXPECT_LT(chi_square(counts, std::vector<double>(399, 1)), kAbove);  // 398 degrees of freedom: 511.7
  EXPECT_GT(chi_square(counts, std::vector<double>(399, 1)), kBelow);
}

TEST(UniformDraws, OfOneStepAreThoseOfTheRing) {
  Replay replay(4, 40);
  for (const std::size_t rows : {12u, 24u, 16u}) {  // filled in part, then wrapped
    replay.insert(std::vector<Experience>(rows));
    std::vector<std::int64_t> drawn(50);
    replay.draw(kSeed, 3, drawn);
    for (u32 place = 0; place < 50; ++place) {
      EXPECT_EQ(drawn[place], uniform_row(replay.ring(), kSeed, place, 3, Draw::kReplay));
    }
  }
}

class Masses : public ::testing::Test {
 protected:
  Masses() { replay_.insert(std::vector<Experience>(8)); }
  void set(const std::vector<std::int64_t>& rows, const std::vector<float>& errors) {
    replay_.set_errors(rows, errors, replay_.steps_inserted());
  }
  Replay replay_{2, 8, [] {
                   ReplayRules rules = prioritised(1);
                   rules.epsilon = 0.5f;
                   return rules;
                 }()};
};

TEST_F(Masses, AreErrorsPlusEpsilon) {
  EXPECT_EQ(replay_.total_mass(), 8);  // new rows count as of mass 1
  set({3, 5}, {0.25f, -1.5f});
  EXPECT_EQ(replay_.masses(), (std::vector<float>{1, 1, 1, 0.75f, 1, 2, 1, 1}));
  EXPECT_EQ(replay_.total_mass(), 8.75);
}

TEST_F(Masses, NewRowsGetTheLargestSoFar) {
  set({3}, {3.5f});
  set({3}, {0});
  EXPECT_EQ(replay_.largest_mass(), 4);
  replay_.insert(std::vector<Experience>(4));
  EXPECT_EQ(replay_.masses(), (std::vector<float>{4, 4, 4, 4, 1, 1, 1, 1}));
  EXPECT_EQ(replay_.total_mass(), 20);
}

TEST_F(Masses, OfARowDrawnTwiceTheLastPlaceCounts) {
  set({3, 1, 3}, {2, 3, 4});
  EXPECT_EQ(replay_.mass(3), 4.5f);
  EXPECT_EQ(replay_.mass(1), 3.5f);
}

TEST_F(Masses, OfRowsOverwrittenSinceTheDrawStay) {
  const std::int64_t drawn_at = replay_.steps_inserted();
  set({0, 2}, {0, 0});
  replay_.insert(std::vector<Experience>(2));  // over rows 0 and 1
  const std::vector<std::int64_t> rows = {0, 1, 2, 7};
  replay_.set_errors(rows, std::vector<float>{9, 9, 2.5f, 3.5f}, drawn_at);
  EXPECT_EQ(replay_.masses(), (std::vector<float>{1, 1, 3, 1, 1, 1, 1, 4}));
  replay_.insert(std::vector<Experience>(8));  // a whole turn: nothing is what it was
  replay_.set_errors(rows, std::vector<float>{9, 9, 9, 9}, drawn_at);
  EXPECT_EQ(replay_.masses(), std::vector<float>(8, 4));
  replay_.set_errors(rows, std::vector<float>{9, 9, 9, 9}, replay_.steps_inserted());
  EXPECT_EQ(replay_.mass(0), 9.5f);
}

TEST_F(Masses, TakeNoErrorThatIsNotFinite) {
  set({0, 1, 2, 3}, {kInfinity, -kInfinity, std::nanf(""), 1});
  EXPECT_EQ(replay_.masses(), (std::vector<float>{1, 1, 1, 1.5f, 1, 1, 1, 1}));
  EXPECT_EQ(replay_.largest_mass(), 1.5f);
  set({0}, {std::numeric_limits<float>::max()});
  EXPECT_TRUE(std::isfinite(replay_.total_mass()));
}

TEST_F(Masses, WeighABatchByItsSmallest) {
  set({0, 1, 2, 3}, {0.5f, 1.5f, 3.5f, 8.5f});  // masses 1, 2, 4, 9
  std::vector<Transition> batch(4);
  replay_.weigh(std::vector<std::int64_t>{3, 2, 1, 0}, 0.5, batch);
  const double expected[] = {1.0 / 3, 0.5, std::sqrt(0.5), 1};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(batch[i].weight, expected[i], 2.4e-7) << i;  // powf: two ulp
  batch.resize(2);
  replay_.weigh(std::vector<std::int64_t>{3, 2}, 1, batch);
  EXPECT_NEAR(batch[0].weight, 4.0 / 9, 2.4e-7);
  EXPECT_EQ(batch[1].weight, 1);
}

TEST_F(Masses, GoOnFromWhatWasRestored) {
  set({1, 6}, {7, 0});
  Replay other(2, 8, replay_.rules());
  other.restore(replay_.ring(), replay_.rows(), replay_.masses(), replay_.largest_mass());
  EXPECT_EQ(other.total_mass(), replay_.total_mass());
  other.insert(std::vector<Experience>(4));
  replay_.insert(std::vector<Experience>(4));
  EXPECT_EQ(other.masses(), replay_.masses());
  EXPECT_EQ(other.mass(0), 7.5f);
  std::vector<std::int64_t> one(30), same(30);
  replay_.draw(kSeed, 1, one);
  other.draw(kSeed, 1, same);
  EXPECT_EQ(one, same);
}

}  // namespace

}  // namespace warptape::cpu
