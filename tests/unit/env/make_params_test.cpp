#include "env/make_params.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warptape {
namespace {

// Section 2 of docs/domain.md: index = (exposure·|orders| + order)·|urgencies| + urgency.
TEST(MakeParams, TheDefaultActionsInOrder) {
  const ActionTables a = make_params(EnvConfig{}).actions;
  ASSERT_EQ(a.count, 45);
  const double exposures[] = {-1, -0.5, 0, 0.5, 1};
  const double rates[] = {0.0001, 0.00005, 0.00015};
  int index = 0;
  for (const double exposure : exposures) {
    for (const double rate : rates) {
      for (int urgency = 0; urgency < 3; ++urgency, ++index) {
        EXPECT_EQ(a.exposure[index], exposure) << index;
        EXPECT_EQ(a.cost_rate[index], rate) << index;
      }
    }
  }
  EXPECT_EQ(a.category[0], 0);   // short
  EXPECT_EQ(a.category[17], 0);  // the last of -0.5
  EXPECT_EQ(a.category[18], 1);  // flat
  EXPECT_EQ(a.category[26], 1);
  EXPECT_EQ(a.category[27], 2);  // long
  EXPECT_EQ(a.category[44], 2);
}

TEST(MakeParams, UrgenciesMultiplyTheRate) {
  EnvConfig config;
  config.order_types = {"ioc", "market"};
  config.urgency_cost = {1, 2.5};
  config.exposures = {0, 1};
  const ActionTables a = make_params(config).actions;
  ASSERT_EQ(a.count, 8);
  EXPECT_DOUBLE_EQ(a.cost_rate[4], 0.00015);
  EXPECT_DOUBLE_EQ(a.cost_rate[5], 0.000375);
  EXPECT_DOUBLE_EQ(a.cost_rate[6], 0.0001);
  EXPECT_DOUBLE_EQ(a.cost_rate[7], 0.00025);
}

TEST(MakeParams, CarriesTheScalars) {
  EnvConfig config;
  config.cost_market = 0.002;
  config.barrier_max_bars = 12;
  config.episode_length = 34;
  config.diversity_window = 56;
  config.barrier_ends_episode = true;
  EnvParams p = make_params(config);
  EXPECT_EQ(p.exit_cost_rate, 0.002);
  EXPECT_EQ(p.max_position, 0.0) << "unset";
  EXPECT_EQ(p.barrier_max_bars, 12);
  EXPECT_EQ(p.episode_length, 34);
  EXPECT_EQ(p.diversity_window, 56);
  EXPECT_EQ(p.barrier_ends_episode, 1);
  config.max_position = 3.5;
  EXPECT_EQ(make_params(config).max_position, 3.5);
}

TEST(MakeParams, TabulatesCountTimesItsLogarithm) {
  const EnvParams p = make_params(EnvConfig{});
  EXPECT_EQ(p.count_log2_count[0], 0.0) << "the limit, not NaN";
  EXPECT_EQ(p.count_log2_count[1], 0.0);
  EXPECT_EQ(p.count_log2_count[8], 24.0);
  EXPECT_EQ(p.count_log2_count[256], 2048.0);
  EXPECT_NEAR(p.count_log2_count[100], 664.3856189774724, 1e-11);
}

TEST(MakeParams, NamesActionsAndUrgencies) {
  EnvConfig config;
  EXPECT_EQ(action_name(config, 0), "exposure -1, market, patient");
  EXPECT_EQ(action_name(config, 27), "exposure 0.5, market, patient");
  EXPECT_EQ(action_name(config, 44), "exposure 1, ioc, aggressive");
  EXPECT_EQ(action_name(config, 22), "exposure 0, limit_maker, normal");
  config.urgency_cost = {1, 2};
  EXPECT_EQ(urgency_name(config, 1), "1");
  EXPECT_EQ(action_name(config, 29), "exposure 1, ioc, 1");
}

}  // namespace
}  // namespace warptape
