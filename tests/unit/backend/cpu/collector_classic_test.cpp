// Rounds under classic rules: lock-step under the recorded actions, rows of zeros past the end of the data, portfolios
// that persist while the bar jumps, the classic generator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "env/make_params.h"
#include "env/step.h"
#include "unit/backend/cpu/test_worlds.h"
#include "warptape/backend.h"

namespace warptape {

namespace {

constexpr Rules kRules = kClassicRules;

Config classic_config(std::int64_t episodes, std::int64_t steps) {
  Config c = cpu_test::small_config(RuleSet::kClassic, episodes, steps);
  c.env.curiosity_weight = 0;  // recomputed elsewhere: here every row is to be bit-equal
  c.env.max_position = 500;
  c.env.diversity_window = 10;
  return c;
}

Dataset classic_dataset() {
  return cpu_test::random_dataset({45, 30, 21}, 4, 6, {0.02, 0.01});
}

std::vector<Experiences> play(const Config& config, const Dataset& dataset, const std::vector<double>& epsilons) {
  const auto backend = make_cpu_backend(config, dataset);
  std::vector<Experiences> all;
  for (const double epsilon : epsilons) {
    backend->collect({epsilon, {}});
    all.push_back(backend->download());
  }
  return all;
}

/// One slot replayed through env/step.h from its recorded actions and the bars that it jumped to.
class Replayed {
 public:
  Replayed(const Config& config, const Dataset& dataset) : params_(make_params(config.env)), dataset_(dataset) {}

  void begin_round(std::int32_t bar) {
    const auto s = std::find_if(dataset_.segments.begin(), dataset_.segments.end(),
                                [&](const Segment& x) { return bar >= x.first && bar < x.first + x.count; });
    ASSERT_NE(s, dataset_.segments.end());
    ASSERT_LE(bar + params_.episode_length, s->first + s->count - 1);
    slot_.bar = bar;
    slot_.last_bar = static_cast<i32>(s->first + s->count - 1);
    slot_.steps = 0;
    if (slot_.episode == 0) begin_episode<kRules>(params_, slot_, close(bar));
  }

  void expect_row(const Experiences& e, std::size_t row) {
    if (slot_.bar >= slot_.last_bar) {
      expect_zeros(e, row);
      return;
    }
    ASSERT_EQ(e.bar[row], slot_.bar);
    const std::size_t b = static_cast<std::size_t>(slot_.bar);
    expect_numbers(e.portfolio.data() + 3 * row, close(slot_.bar));
    const StepPrices prices = {dataset_.close[b], dataset_.open[b + 1], dataset_.high[b + 1], dataset_.low[b + 1],
                               dataset_.close[b + 1]};
    const StepResult<float> result = step<kRules>(params_, slot_, e.action[row], prices);
    expect_numbers(e.next_portfolio.data() + 3 * row, close(slot_.bar));
    ASSERT_EQ(e.reward[row], total_reward(result.reward, result.ruin, 0.0f));
    ASSERT_EQ(e.terminal[row] != 0, result.terminal);
    ASSERT_EQ(e.truncated[row], 0) << "classic limits are terminal";
    if (!result.terminal) return;
    ++(result.label != Label::kNone ? labels_ : limits_);
    begin_episode<kRules>(params_, slot_, close(slot_.bar));  // goes on at the next bar
  }

  int labels_ = 0, limits_ = 0, zeros_ = 0;

 private:
  float close(std::int32_t bar) const { return static_cast<float>(dataset_.close[static_cast<std::size_t>(bar)]); }

  void expect_zeros(const Experiences& e, std::size_t row) {
    ++zeros_;
    ASSERT_EQ(e.bar[row], -1);
    for (std::size_t k = 3 * row; k < 3 * row + 3; ++k) {
      ASSERT_EQ(e.portfolio[k], 0);
      ASSERT_EQ(e.next_portfolio[k], 0);
    }
    ASSERT_EQ(e.action[row], 0);
    ASSERT_EQ(e.reward[row], 0);
    ASSERT_EQ(e.terminal[row], 1);
    ASSERT_EQ(e.truncated[row], 0);
  }

  void expect_numbers(const float* recorded, float price) const {
    const Observation expected = observe<kRules>(params_, slot_.portfolio, price);
    ASSERT_EQ(std::memcmp(recorded, expected.number, sizeof expected.number), 0);
  }

  EnvParams params_;
  const Dataset& dataset_;
  Slot<float> slot_{};
};

TEST(ClassicCollector, EveryRowIsTheStepOfItsAction) {
  const Config config = classic_config(67, 33);
  const Dataset dataset = classic_dataset();
  const std::vector<Experiences> rounds = play(config, dataset, {1.0, 0.4, 1.0});
  int labels = 0, limits = 0, zeros = 0;
  for (std::int64_t slot = 0; slot < 67; ++slot) {
    Replayed replayed(config, dataset);
    for (const Experiences& e : rounds) {
      replayed.begin_round(e.bar[static_cast<std::size_t>(slot)]);
      for (std::int64_t t = 0; t < 33; ++t) {
        replayed.expect_row(e, static_cast<std::size_t>(t * 67 + slot));
        ASSERT_FALSE(HasFatalFailure()) << "slot " << slot << ", step " << t;
      }
    }
    labels += replayed.labels_;
    limits += replayed.limits_;
    zeros += replayed.zeros_;
  }
  EXPECT_GT(labels, 100);  // or the world is not eventful
  EXPECT_GT(limits, 10);
  EXPECT_GT(zeros, 100);
}

TEST(ClassicCollector, ANewRoundJumpsAndKeepsThePortfolio) {
  Config config = classic_config(40, 3);
  config.env.barrier_ends_episode = false;
  const Dataset dataset = classic_dataset();
  const std::vector<Experiences> rounds = play(config, dataset, {1.0, 1.0});
  int jumps = 0, held = 0;
  for (std::size_t slot = 0; slot < 40; ++slot) {
    const std::size_t last = 2 * 40 + slot;
    const std::int32_t before = rounds[0].bar[last] + 1, after = rounds[1].bar[slot];
    jumps += before != after ? 1 : 0;
    // Numbers 0 and 1 are (cash + position·price) and position·price over the base: their difference, the cash, stays,
    // and position·price goes with the price.
    const float* was = rounds[0].next_portfolio.data() + 3 * last;
    const float* is = rounds[1].portfolio.data() + 3 * slot;
    EXPECT_NEAR(is[0] - is[1], was[0] - was[1], 1e-6);  // float32 numbers of order 1
    const double moved =
        dataset.close[static_cast<std::size_t>(after)] / dataset.close[static_cast<std::size_t>(before)];
    EXPECT_NEAR(is[1], was[1] * moved, 1e-6);
    held += was[1] != 0 ? 1 : 0;
  }
  EXPECT_GT(jumps, 30);
  EXPECT_GT(held, 20);
}

/// The classic generator, from its formula.
struct Lcg {
  std::uint32_t x;
  float next() {
    x = x * 1664525u + 1013904223u;
    return static_cast<float>(x & 0x7FFFFFu) / 8388607.0f;
  }
};

TEST(ClassicCollector, ExploresByTheClassicGenerator) {
  Config config = classic_config(4, 12);
  const Dataset dataset = cpu_test::random_dataset({200}, 4, 6);
  // Without exploration a step draws once, with it twice.
  const std::vector<Experiences> rounds = play(config, dataset, {0.0, 0.5, 1.0});
  int explored = 0;
  for (u32 slot = 0; slot < 4; ++slot) {
    Lcg lcg{random_words(config.seed, slot, 0, Draw::kClassic).word[0]};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t t = 0; t < 12; ++t) {
        if (!(lcg.next() < 0.5f * static_cast<float>(r))) continue;
        ++explored;
        EXPECT_EQ(rounds[r].action[t * 4 + slot], static_cast<int>(lcg.next() * 45.0f) % 45);
      }
    }
  }
  EXPECT_GT(explored, 48 + 10);
}

TEST(ClassicCollector, CuriosityIgnoresRowsOfZeros) {
  Config config = classic_config(65, 60);  // the longest segment has 45 bars: most slots run out
  config.env.curiosity_weight = 1;
  const auto backend = make_cpu_backend(config, classic_dataset());
  backend->collect({1.0, {true, true, true}});
  const Experiences e = backend->download();
  int zeros = 0;
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    const float curiosity = e.components[4 * i + 3];
    if (e.bar[i] >= 0) {
      EXPECT_GT(curiosity, 0);
      continue;
    }
    ++zeros;
    EXPECT_EQ(e.reward[i], 0);
    EXPECT_EQ(e.target_q[i], 0);
    EXPECT_EQ(e.q_selected[i], 0);
    EXPECT_EQ(e.td_error[i], 0);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(e.components[4 * i + k], 0);
  }
  EXPECT_GT(zeros, 65 * 15);
  EXPECT_GT(backend->train_curiosity().loss, 0);
}

}  // namespace

}  // namespace warptape
