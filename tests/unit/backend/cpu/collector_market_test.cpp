// Rounds under market rules: the environment in lock-step under the recorded actions, starts, exploration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "env/make_params.h"
#include "env/step.h"
#include "unit/backend/cpu/test_worlds.h"
#include "warptape/backend.h"

namespace warptape {

namespace {

constexpr Rules kRules = kMarketRules;
using MarketSlot = Slot<double>;

std::vector<Experiences> play(const Config& config, const Dataset& dataset, int rounds, double epsilon = 1) {
  const auto backend = make_cpu_backend(config, dataset);
  std::vector<Experiences> all;
  for (int r = 0; r < rounds; ++r) {
    backend->collect({epsilon, {}});
    all.push_back(backend->download());
  }
  return all;
}

const Segment& segment_of(const Dataset& d, std::int64_t bar) {
  return *std::find_if(d.segments.begin(), d.segments.end(),
                       [&](const Segment& s) { return bar >= s.first && bar < s.first + s.count; });
}

/// One slot's episodes replayed through env/step.h from the recorded starts and actions.
class Replayed {
 public:
  Replayed(const Config& config, const Dataset& dataset) : params_(make_params(config.env)), dataset_(dataset) {}

  /// Compares row `row` bit for bit.
  void expect_row(const Experiences& e, std::size_t row) {
    if (fresh_) start(e.bar[row]);
    ASSERT_EQ(e.bar[row], slot_.bar);
    const std::size_t b = static_cast<std::size_t>(slot_.bar);
    expect_numbers(e.portfolio.data() + 3 * row, dataset_.close[b]);
    const StepPrices prices = {dataset_.close[b], dataset_.open[b + 1], dataset_.high[b + 1], dataset_.low[b + 1],
                               dataset_.close[b + 1]};
    const StepResult<double> result = step<kRules>(params_, slot_, e.action[row], prices);
    expect_numbers(e.next_portfolio.data() + 3 * row, dataset_.close[b + 1]);
    ASSERT_EQ(e.reward[row], static_cast<float>(total_reward(result.reward, result.ruin, 0.0)));
    ASSERT_EQ(e.terminal[row] != 0, result.terminal);
    ASSERT_EQ(e.truncated[row] != 0, result.truncated);
    fresh_ = result.terminal || result.truncated;
    ruins_ += result.ruin ? 1 : 0;
    labels_ += result.label != Label::kNone ? 1 : 0;
    truncated_ += result.truncated ? 1 : 0;
  }

  int ruins_ = 0, labels_ = 0, truncated_ = 0;

 private:
  void start(std::int32_t bar) {
    const Segment& s = segment_of(dataset_, bar);
    ASSERT_LE(bar + params_.episode_length, s.first + s.count - 1) << "no room for a whole episode";
    slot_ = {};
    slot_.bar = bar;
    slot_.last_bar = static_cast<i32>(s.first + s.count - 1);
    begin_episode<kRules>(params_, slot_, dataset_.close[static_cast<std::size_t>(bar)]);
    fresh_ = false;
  }

  void expect_numbers(const float* recorded, double price) const {
    const Observation expected = observe<kRules>(params_, slot_.portfolio, price);
    ASSERT_EQ(std::memcmp(recorded, expected.number, sizeof expected.number), 0);
  }

  EnvParams params_;
  const Dataset& dataset_;
  MarketSlot slot_{};
  bool fresh_ = true;
};

/// A world in which everything happens: barriers, leverage, lots, reserve, penalties, ruin.
Config eventful_config(std::int64_t episodes, std::int64_t steps) {
  Config c = cpu_test::small_config(RuleSet::kMarket, episodes, steps);
  c.env.max_exposure = 10;
  c.env.leverage = 12;
  c.env.lot_size = 0.5;
  c.env.reserve_pct = 1;
  c.env.barrier_profit_bps = 300;
  c.env.barrier_stop_bps = 200;
  c.env.barrier_max_bars = 4;
  c.env.barrier_reward_scale = 0.5;
  c.env.diversity_penalty = 0.1;
  c.env.diversity_window = 6;
  c.env.risk_weight = 0.5;
  return c;
}

struct Size {
  std::int64_t episodes, steps;
};

class MarketLockstep : public ::testing::TestWithParam<Size> {};

TEST_P(MarketLockstep, EveryRowIsTheStepOfItsAction) {
  const auto [episodes, steps] = GetParam();
  const Config config = eventful_config(episodes, steps);
  const Dataset dataset = cpu_test::random_dataset({60, 15, 40, 21}, 4, 5, {0.06, 0.02, 0.15});
  const std::vector<Experiences> rounds = play(config, dataset, 3);
  int ruins = 0, labels = 0, truncated = 0;
  for (std::int64_t slot = 0; slot < episodes; ++slot) {
    Replayed replayed(config, dataset);
    for (const Experiences& e : rounds) {
      ASSERT_EQ(e.episodes, episodes);
      ASSERT_EQ(e.steps, steps);
      for (std::int64_t t = 0; t < steps; ++t) {
        replayed.expect_row(e, static_cast<std::size_t>(t * episodes + slot));
        ASSERT_FALSE(HasFatalFailure()) << "slot " << slot << ", step " << t;
      }
    }
    ruins += replayed.ruins_;
    labels += replayed.labels_;
    truncated += replayed.truncated_;
  }
  if (episodes * steps < 1000) return;
  EXPECT_GT(ruins, 0);  // or the world is not eventful
  EXPECT_GT(labels, 100);
  EXPECT_GT(truncated, 10);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MarketLockstep,
                         ::testing::Values(Size{1, 50}, Size{3, 1}, Size{65, 33}, Size{127, 50}, Size{128, 7}));

TEST(MarketCollector, StatisticsAreThoseOfTheRows) {
  const Config config = eventful_config(65, 40);
  const Dataset dataset = cpu_test::random_dataset({60, 15, 40, 21}, 4, 5, {0.06, 0.02, 0.15});
  const auto backend = make_cpu_backend(config, dataset);
  const CollectStats stats = backend->collect({1.0, {}});
  const Experiences e = backend->download();
  EXPECT_EQ(stats.steps, 65 * 40);
  double reward = 0, step_return = 0;
  std::int64_t ended = 0, ruins = 0;
  for (std::size_t i = 0; i < e.reward.size(); ++i) {
    reward += e.reward[i];
    step_return += static_cast<double>(e.next_portfolio[3 * i]) / e.portfolio[3 * i] - 1;
    ended += e.terminal[i] | e.truncated[i];
    ruins += e.terminal[i];  // labels don't end episodes here, so nothing else is terminal
  }
  const double n = static_cast<double>(stats.steps);
  EXPECT_NEAR(stats.mean_reward, reward / n, 1e-12);
  EXPECT_NEAR(stats.mean_return, step_return / n, 1e-6);  // from equities rounded to float32
  EXPECT_EQ(stats.episodes, ended);
  EXPECT_EQ(stats.ruins, ruins);
  EXPECT_GT(ruins, 0);
}

TEST(MarketCollector, NoEpisodeLeavesItsSegment) {
  Config config = cpu_test::small_config(RuleSet::kMarket, 40, 60);
  config.env.episode_length = 5;
  const Dataset dataset = cpu_test::random_dataset({6, 3, 7, 20, 6}, 3, 8);
  for (const Experiences& e : play(config, dataset, 2)) {
    for (std::size_t i = 0; i < e.bar.size(); ++i) {
      const Segment& s = segment_of(dataset, e.bar[i]);
      ASSERT_LT(e.bar[i], s.first + s.count - 1) << "the next bar is another segment's";
      ASSERT_NE(&s, &dataset.segments[1]) << "too short for an episode";
      const std::size_t next = i + static_cast<std::size_t>(e.episodes);
      if (next >= e.bar.size() || e.truncated[i] || e.terminal[i]) continue;
      ASSERT_EQ(e.bar[next], e.bar[i] + 1);
    }
  }
}

/// Starts of all episodes in these rounds; the rounds go on where the last ended.
std::vector<std::int32_t> starts_of(const std::vector<Experiences>& rounds) {
  std::vector<std::int32_t> starts;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const Experiences& e = rounds[r];
    const std::size_t slots = static_cast<std::size_t>(e.episodes);
    for (std::size_t i = 0; i < e.bar.size(); ++i) {
      if (i < slots && r > 0) {
        const Experiences& before = rounds[r - 1];
        const std::size_t last = before.bar.size() - slots + i;
        if (before.terminal[last] || before.truncated[last]) starts.push_back(e.bar[i]);
      } else if (i < slots || e.terminal[i - slots] || e.truncated[i - slots]) {
        starts.push_back(e.bar[i]);
      }
    }
  }
  return starts;
}

TEST(MarketCollector, StartsAreUniformOverAllThatHaveRoomForAnEpisode) {
  Config config = cpu_test::small_config(RuleSet::kMarket, 200, 60);
  config.env.episode_length = 6;
  // Usable starts: 6, none, 3, 24, and one in the segment that an episode just fills.
  const Dataset dataset = cpu_test::random_dataset({12, 5, 9, 30, 7}, 2, 3);
  const std::vector<std::int32_t> starts = starts_of(play(config, dataset, 2));
  ASSERT_EQ(starts.size(), 200u * 20);
  std::vector<std::int64_t> usable;
  for (const Segment& s : dataset.segments) {
    for (std::int64_t b = s.first; b + 6 < s.first + s.count; ++b) usable.push_back(b);
  }
  ASSERT_EQ(usable.size(), 34u);
  const double expected = static_cast<double>(starts.size()) / 34;
  double chi_square = 0;
  std::int64_t counted = 0;
  for (const std::int64_t bar : usable) {
    const std::int64_t count = std::count(starts.begin(), starts.end(), bar);
    counted += count;
    const double difference = static_cast<double>(count) - expected;
    chi_square += difference * difference / expected;
  }
  EXPECT_EQ(counted, static_cast<std::int64_t>(starts.size())) << "some started elsewhere";
  EXPECT_LT(chi_square, 71.9);  // 33 degrees of freedom: one seed in ten thousand lies above
}

TEST(MarketCollector, SlotsAndSeedsStartApart) {
  Config config = cpu_test::small_config(RuleSet::kMarket, 64, 1);
  const Dataset dataset = cpu_test::random_dataset({5000}, 2, 3);
  const std::vector<std::int32_t> one = play(config, dataset, 1)[0].bar;
  EXPECT_GT(std::set<std::int32_t>(one.begin(), one.end()).size(), 55u);
  EXPECT_EQ(play(config, dataset, 1)[0].bar, one);
  ++config.seed;
  EXPECT_NE(play(config, dataset, 1)[0].bar, one);
}

TEST(MarketCollector, ExploresByTheWordsOfItsSlotAndStep) {
  Config config = cpu_test::small_config(RuleSet::kMarket, 5, 9);
  const Dataset dataset = cpu_test::random_dataset({200}, 2, 3);
  const std::vector<Experiences> rounds = play(config, dataset, 2, 0.5);
  const std::vector<Experiences> greedy = play(config, dataset, 1, 0.0);
  int explored = 0;
  for (u64 r = 0; r < 2; ++r) {
    for (u32 i = 0; i < 45; ++i) {
      const u32 slot = i % 5;
      // The step counts on from round to round, whatever episode it falls into.
      const Philox4 words = random_words(config.seed, slot, r * 9 + i / 5, Draw::kExplore);
      if (words.word[0] >= 0x80000000u) continue;
      ++explored;
      EXPECT_EQ(rounds[r].action[i], static_cast<int>((u64{words.word[1]} * 45) >> 32));
    }
  }
  EXPECT_GT(explored, 30);
  EXPECT_LT(explored, 60);
  // The first step of both: where it did not explore, it took the greedy action.
  for (u32 slot = 0; slot < 5; ++slot) {
    if (random_words(config.seed, slot, 0, Draw::kExplore).word[0] < 0x80000000u) continue;
    EXPECT_EQ(rounds[0].action[slot], greedy[0].action[slot]);
  }
}

TEST(MarketCollector, RoundsGoOnWhereTheLastEnded) {
  Config half = eventful_config(67, 15), whole = half;
  whole.collect.steps = 30;
  whole.replay.capacity = half.replay.capacity = 67 * 30;
  const Dataset dataset = cpu_test::random_dataset({60, 15, 40, 21}, 4, 5, {0.06, 0.02, 0.15});
  const std::vector<Experiences> two = play(half, dataset, 2, 0.3);
  const Experiences one = play(whole, dataset, 1, 0.3)[0];
  const auto joined = [&](const auto& member) {
    auto all = two[0].*member;
    all.insert(all.end(), (two[1].*member).begin(), (two[1].*member).end());
    return all;
  };
  EXPECT_EQ(joined(&Experiences::bar), one.bar);
  EXPECT_EQ(joined(&Experiences::action), one.action);
  EXPECT_EQ(joined(&Experiences::reward), one.reward);
  EXPECT_EQ(joined(&Experiences::portfolio), one.portfolio);
  EXPECT_EQ(joined(&Experiences::next_portfolio), one.next_portfolio);
  EXPECT_EQ(joined(&Experiences::truncated), one.truncated);
  EXPECT_EQ(joined(&Experiences::terminal), one.terminal);
}

}  // namespace

}  // namespace warptape
