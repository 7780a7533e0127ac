// The golden examples at the end of section 7 of docs/domain.md, through the step itself.
#include <gtest/gtest.h>

#include "env_test_tools.h"
#include "learn/td.h"

namespace warptape {
namespace {

using env_test::ClassicWorld;
using env_test::closes;
using env_test::MarketWorld;
using env_test::plain_classic;
using env_test::plain_market;

constexpr double kSixDecimals = 5e-7;  // the examples print six decimals

TEST(GoldenExamples, BarriersOfAShortAt100) {
  EnvConfig config = plain_market();
  config.barrier_stop_bps = 250;
  config.barrier_profit_bps = 500;
  MarketWorld world(config, closes({100, 100, 100}));
  world.to(-1);
  EXPECT_EQ(world.upper(), 102.5);
  EXPECT_EQ(world.lower(), 95.0);
}

TEST(GoldenExamples, FlatToLongToShortWithinBuyingPower) {
  EnvConfig config = plain_market();
  config.cost_market = 0.001;
  MarketWorld world(config, closes({100, 100, 100}));

  // 1000 = x·100·1.001: x = 9.990010, cost 0.999001.
  const auto opened = world.to(1);
  EXPECT_EQ(opened.equity, 1000.0);
  EXPECT_NEAR(opened.next_equity, 999.000999, kSixDecimals);
  EXPECT_NEAR(world.position(), 9.990010, kSixDecimals);

  // Closing costs 0.999001; what remains, 998.001998, opens 998.001998/100.1 = 9.970050 units for 0.997005.
  const auto reversed = world.to(-1);
  EXPECT_NEAR(reversed.next_equity, 997.004993, kSixDecimals);
  EXPECT_NEAR(world.position(), -9.970050, kSixDecimals);
  EXPECT_NEAR(reversed.cost, 0.999001 + 0.997005, 2 * kSixDecimals);
}

TEST(GoldenExamples, HalvingAPositionCostsItsHalf) {
  EnvConfig config = plain_market();
  config.initial_capital = 2000;  // room for the cost beside the 1000 of notional
  config.max_exposure = 0.5;
  config.cost_market = 0.001;
  MarketWorld world(config, closes({100, 100, 100}));
  world.to(1);
  ASSERT_EQ(world.position(), 10.0);
  const auto halved = world.to(0.5);
  EXPECT_EQ(world.position(), 5.0);
  EXPECT_NEAR(halved.cost, 0.50, 1e-15);
  EXPECT_NEAR(halved.next_equity, halved.equity - 0.50, 1e-12);
}

TEST(GoldenExamples, AStopGappedPastFillsAtTheOpen) {
  EnvConfig config = plain_market();
  config.barrier_stop_bps = 250;
  MarketWorld world(config, {{100, 100, 100, 100}, {85, 86, 84, 85}, {85, 85, 85, 85}});
  const auto stopped = world.to(1);
  EXPECT_EQ(stopped.traded_position, 10.0);
  EXPECT_EQ(stopped.label, Label::kStop);
  EXPECT_EQ(stopped.fill_price, 85.0);
  EXPECT_EQ(stopped.next_equity, 850.0);
  EXPECT_DOUBLE_EQ(stopped.reward.ret, -0.15);
  EXPECT_EQ(world.position(), 0.0);
  EXPECT_FALSE(stopped.terminal);
  EXPECT_FALSE(stopped.truncated);
}

TEST(GoldenExamples, AChainCompounds) {
  EnvConfig config = plain_market();
  config.episode_length = 2;
  MarketWorld world(config, closes({100, 110, 121, 133.1}));

  EXPECT_DOUBLE_EQ(world.to(1).next_equity, 1100.0);
  const auto second = world.to(1);
  EXPECT_DOUBLE_EQ(second.next_equity, 1210.0);
  EXPECT_TRUE(second.truncated);
  EXPECT_FALSE(second.terminal);

  chain_episode<kMarketRules>(world.params, world.slot, 121);
  EXPECT_DOUBLE_EQ(world.slot.portfolio.base, 1210.0);
  EXPECT_DOUBLE_EQ(world.slot.portfolio.cap, 10.0);
  const auto third = world.to(1);
  EXPECT_DOUBLE_EQ(third.next_equity, 1331.0);
  EXPECT_EQ(world.position(), 10.0);
  EXPECT_EQ(third.cost, 0.0);
}

// 2 % up on a position of half the base: the last step's reward is 0.01.
TEST(GoldenExamples, TheLastBarOfTheDataBootstraps) {
  MarketWorld world(plain_market(), closes({100, 102}));
  const auto last = world.to(0.5);
  const float reward = static_cast<float>(total_reward(last.reward, last.ruin, 0.0));
  EXPECT_FLOAT_EQ(reward, 0.01f);
  EXPECT_TRUE(last.truncated);
  EXPECT_FLOAT_EQ(td_target(reward, 0.99f, 2.0f, last.terminal), 1.99f);
}

TEST(GoldenExamples, RuinDoesNotBootstrap) {
  MarketWorld world(plain_market(), closes({100, 200, 200}));
  const auto ruin = world.to(-1);  // -10 units from 1000: 0 is left at 200
  EXPECT_EQ(ruin.next_equity, 0.0);
  EXPECT_TRUE(ruin.ruin);
  EXPECT_TRUE(ruin.terminal);
  const float reward = static_cast<float>(total_reward(ruin.reward, ruin.ruin, 0.0));
  EXPECT_EQ(td_target(reward, 0.99f, 2.0f, ruin.terminal), -1.0f);
}

// Classic: entry and barrier of a short from flat stay 0, and any price is at or above 0.
TEST(GoldenExamples, AClassicShortFromFlatIsAProfitAtOnce) {
  EnvConfig config = plain_classic();
  config.barrier_profit_bps = 500;
  config.barrier_stop_bps = 250;
  config.barrier_ends_episode = true;
  ClassicWorld world(config, closes({100, 100, 100}));
  const auto opened = world.to(-1);
  EXPECT_EQ(world.position(), -10.0f);
  EXPECT_EQ(opened.label, Label::kProfit);
  EXPECT_TRUE(opened.terminal);
  EXPECT_EQ(world.entry(), 0.0f);
  EXPECT_EQ(world.upper(), 0.0f);
  EXPECT_EQ(world.lower(), 0.0f);
}

}  // namespace
}  // namespace warptape
