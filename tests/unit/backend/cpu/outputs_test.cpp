// What a round gives out, recomputed in float64 from the downloaded weights: Q-values, errors, curiosity, components.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "unit/backend/cpu/test_worlds.h"
#include "warptape/backend.h"

namespace warptape {

namespace {

// Three layers of sums of at most 48 float32 products, values of order 1.
constexpr double kTolerance = 5e-6;

struct World {
  std::string name;
  RuleSet rules;
  std::int64_t episodes, steps;
  int features;
  std::function<void(Config&)> change = [](Config&) {};
};

void three_actions(Config& c) {
  c.env.exposures = {-1, 0, 1};
  c.env.order_types = {"market"};
  c.env.urgency_cost = {1};
  c.net = {48, 16, 48, 16, 48};
}

void wide(Config& c) {
  c.net = {48, 48, 16, 48, 16};
}

class RoundOutputs : public ::testing::TestWithParam<World> {
 protected:
  RoundOutputs()
      : config_(cpu_test::small_config(GetParam().rules, GetParam().episodes, GetParam().steps)),
        dataset_(cpu_test::random_dataset({60, 31, 22}, GetParam().features, 4, {0.02, 0.01, 0.01})) {
    config_.env.curiosity_weight = 0.5;
    config_.env.curiosity_cap = 1.4;
    config_.env.risk_weight = 0.5;
    config_.env.diversity_penalty = 0.1;
    config_.env.barrier_reward_scale = 1;
    config_.learn.target_sync = "hard";  // far away: online and target stay different networks
    GetParam().change(config_);
    backend_ = make_cpu_backend(config_, dataset_);
    backend_->collect({1.0, {}});
    backend_->learn({30, 0.01});
    backend_->train_curiosity();
    online_ = cpu_test::to_double(backend_->weights(Network::kOnline));
    target_ = cpu_test::to_double(backend_->weights(Network::kTarget));
    curiosity_ = cpu_test::to_double(backend_->weights(Network::kCuriosity));
  }

  Experiences collect(double epsilon) {
    backend_->collect({epsilon, {true, true, true}});
    return backend_->download();
  }

  /// Q of row `row`'s state by the online network, or of its true next state by the target network.
  std::vector<double> q_now(const Experiences& e, std::size_t row) const {
    return cpu_test::reference_q(widths(), online_,
                                 cpu_test::state_of(dataset_, e.bar[row], e.portfolio.data() + 3 * row));
  }
  std::vector<double> q_next(const Experiences& e, std::size_t row) const {
    return cpu_test::reference_q(widths(), target_,
                                 cpu_test::state_of(dataset_, e.bar[row] + 1, e.next_portfolio.data() + 3 * row));
  }
  cpu_test::Widths widths() const { return cpu_test::widths_of(config_, dataset_); }

  std::span<const float> market(std::int32_t bar) const {
    const std::size_t columns = static_cast<std::size_t>(dataset_.features);
    return {dataset_.market.data() + static_cast<std::size_t>(bar) * columns, columns};
  }

  Config config_;
  Dataset dataset_;
  std::unique_ptr<Backend> backend_;
  std::vector<double> online_, target_, curiosity_;
};

TEST_P(RoundOutputs, QValuesAndErrors) {
  const Experiences e = collect(0.7);
  ASSERT_EQ(e.td_error.size(), static_cast<std::size_t>(e.episodes * e.steps));
  EXPECT_NE(online_, target_);
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    if (e.bar[i] < 0) continue;
    const double q = q_now(e, i)[static_cast<std::size_t>(e.action[i])];
    const std::vector<double> next = q_next(e, i);
    const double target = *std::max_element(next.begin(), next.end());
    ASSERT_NEAR(e.q_selected[i], q, kTolerance) << i;
    ASSERT_NEAR(e.target_q[i], target, kTolerance) << i;
    const double wanted = e.reward[i] + (e.terminal[i] ? 0 : config_.learn.gamma * target);
    ASSERT_NEAR(e.td_error[i], std::fabs(wanted - q), 2 * kTolerance) << i;
  }
}

TEST_P(RoundOutputs, WithoutExplorationTheBestActionIsTaken) {
  const Experiences e = collect(0.0);
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    if (e.bar[i] < 0) continue;
    const std::vector<double> q = q_now(e, i);
    ASSERT_GE(q[static_cast<std::size_t>(e.action[i])], *std::max_element(q.begin(), q.end()) - kTolerance) << i;
  }
}

TEST_P(RoundOutputs, CuriosityIsTheCappedErrorOfItsModel) {
  const Experiences e = collect(1.0);
  const std::size_t factors = config_.env.order_types.size() * config_.env.urgency_cost.size();
  int capped = 0;
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    if (e.bar[i] < 0) continue;
    const double exposure = config_.env.exposures[static_cast<std::size_t>(e.action[i]) / factors];
    const int category = exposure < 0 ? 0 : exposure > 0 ? 2 : 1;
    const double error = cpu_test::reference_curiosity_error(static_cast<int>(config_.net.curiosity), curiosity_,
                                                             market(e.bar[i]), market(e.bar[i] + 1), category);
    capped += error > 1.4 ? 1 : 0;
    ASSERT_NEAR(e.components[4 * i + 3], 0.5 * std::min(error, 1.4), kTolerance) << i;
  }
  if (e.bar.size() < 500) return;
  EXPECT_GT(capped, 0);
  EXPECT_LT(capped, static_cast<int>(e.bar.size()));
}

TEST_P(RoundOutputs, ComponentsAddUpToTheReward) {
  const Experiences e = collect(1.0);
  ASSERT_EQ(e.components.size(), 4 * e.bar.size());
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    const float* c = e.components.data() + 4 * i;
    // Four numbers and their sum below 1, each rounded to float32.
    ASSERT_NEAR(e.reward[i], static_cast<double>(c[0]) + c[1] + c[2] + c[3], 3e-7) << i;
    ASSERT_LE(c[1], 0);
    ASSERT_TRUE(c[2] == 0 || c[2] == -0.1f);
    ASSERT_GE(c[3], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, RoundOutputs,
                         ::testing::Values(World{"one_row", RuleSet::kMarket, 1, 1, 4},
                                           World{"three_actions", RuleSet::kMarket, 3, 20, 5, three_actions},
                                           World{"a_tile_and_one", RuleSet::kMarket, 65, 11, 4},
                                           World{"wide", RuleSet::kMarket, 127, 9, 40, wide},
                                           World{"classic", RuleSet::kClassic, 65, 30, 4},
                                           World{"classic_three_actions", RuleSet::kClassic, 5, 40, 3, three_actions}),
                         [](const auto& world) { return world.param.name; });

TEST(RoundOutputsAsked, OnlyWhatWasAskedForIsThere) {
  const Config config = cpu_test::small_config(RuleSet::kMarket, 3, 4);
  const auto backend = make_cpu_backend(config, cpu_test::random_dataset({60}, 4, 4));
  const std::vector<Outputs> asked = {
      {true, true, true}, {}, {true, false, false}, {false, true, false}, {false, false, true}};
  for (const Outputs& outputs : asked) {
    backend->collect({1.0, outputs});
    const Experiences e = backend->download();
    EXPECT_EQ(e.target_q.size(), outputs.target_q ? 12u : 0u);
    EXPECT_EQ(e.td_error.size(), outputs.td_error ? 12u : 0u);
    EXPECT_EQ(e.q_selected.size(), outputs.td_error ? 12u : 0u);  // the one is of no use without the other
    EXPECT_EQ(e.components.size(), outputs.components ? 48u : 0u);
    EXPECT_EQ(e.bar.size(), 12u);
    EXPECT_EQ(e.portfolio.size(), 36u);
    EXPECT_EQ(e.next_portfolio.size(), 36u);
  }
}

}  // namespace

}  // namespace warptape
