// The table of section 7 of docs/domain.md, its rows on trade sizes, reward and episodes: classic against market.
#include <gtest/gtest.h>

#include "env_test_tools.h"

namespace warptape {
namespace {

using env_test::ClassicWorld;
using env_test::closes;
using env_test::MarketWorld;
using env_test::plain_classic;
using env_test::plain_market;

TEST(RuleTableEpisodes, ClassicSizesAreFreeWithoutAReserve) {
  EnvConfig config = plain_classic();
  config.max_exposure = 3;
  ClassicWorld bought(config, closes({100, 100, 100}));
  bought.to(1);
  EXPECT_EQ(bought.position(), 30.0f);
  EXPECT_EQ(bought.cash(), -2000.0f);
  bought.to(-1);
  EXPECT_EQ(bought.position(), -10.0f) << "a reversal opens what the cash can buy";

  ClassicWorld sold(config, closes({100, 100}));
  sold.to(-1);
  EXPECT_EQ(sold.position(), -30.0f);
}

TEST(RuleTableEpisodes, ClassicReserveHoldsForBuysAndReversals) {
  EnvConfig config = plain_classic();
  config.max_exposure = 3;
  config.reserve_pct = 25;  // of 1000: 750 may be spent
  ClassicWorld world(config, closes({100, 100, 100}));
  world.to(1);
  EXPECT_EQ(world.position(), 7.0f);
  world.to(-1);
  EXPECT_EQ(world.position(), -7.0f);

  ClassicWorld sold(config, closes({100, 100}));
  sold.to(-1);
  EXPECT_EQ(sold.position(), -30.0f) << "a short from flat is not a buy";
}

TEST(RuleTableEpisodes, MarketBuyingPowerHoldsForBothSides) {
  EnvConfig config = plain_market();
  config.max_exposure = 5;
  config.leverage = 2;
  config.reserve_pct = 10;  // 2·(1000 − 100)/100 = 18
  for (const double side : {1.0, -1.0}) {
    MarketWorld world(config, closes({100, 100, 100}));
    world.to(side);
    EXPECT_DOUBLE_EQ(world.position(), 18 * side);
    world.to(-side);
    EXPECT_DOUBLE_EQ(world.position(), -18 * side);
  }
}

// 10 short at 100, 10 % up: 900 of equity allow 8.18 units, but nothing forces the other 1.82 back.
TEST(RuleTableEpisodes, MarketBuyingPowerForcesNoReduction) {
  MarketWorld world(plain_market(), closes({100, 110, 110}));
  world.to(-1);
  const auto held = world.to(-1);
  EXPECT_EQ(world.position(), -10.0);
  EXPECT_EQ(held.cost, 0.0);
}

// 10 of 20 units short at 100; at 50 the equity of 1500 would allow 30.
TEST(RuleTableEpisodes, MarketTopsUpWhatBuyingPowerCut) {
  EnvConfig config = plain_market();
  config.max_position = 20.0;
  MarketWorld world(config, closes({100, 50, 50}));
  world.to(-1);
  EXPECT_EQ(world.position(), -10.0);
  world.to(-1);
  EXPECT_EQ(world.position(), -20.0);
  EXPECT_EQ(world.entry(), 75.0);
}

TEST(RuleTableEpisodes, ClassicLotsAreWholeUnitsOnReversals) {
  ClassicWorld world(plain_classic(), closes({300, 300, 300}));
  world.to(1);
  EXPECT_FLOAT_EQ(world.position(), 10.0f / 3);
  world.to(-1);
  EXPECT_EQ(world.position(), -3.0f);
}

TEST(RuleTableEpisodes, MarketLotsHoldOnEveryTrade) {
  EnvConfig config = plain_market();
  config.lot_size = 0.25;
  for (const double side : {1.0, -1.0}) {
    MarketWorld world(config, closes({300, 300, 300, 300}));  // cap 3.33
    world.to(side);
    EXPECT_EQ(world.position(), 3.25 * side);
    world.to(0.5 * side);
    EXPECT_EQ(world.position(), 1.5 * side) << "reductions included: 1.67";
    world.to(-side);
    EXPECT_EQ(world.position(), -3.25 * side);
  }
  config.lot_size = 0;
  MarketWorld fractional(config, closes({300, 300}));
  fractional.to(1);
  EXPECT_DOUBLE_EQ(fractional.position(), 10.0 / 3);
}

// 0.3/0.1 is 2.9999999999999996 in float64, yet three lots.
TEST(RuleTableEpisodes, ALotIsNotLostToTheLastBitOfADivision) {
  EnvConfig config = plain_market();
  config.lot_size = 0.1;
  config.max_position = 0.3;
  MarketWorld world(config, closes({100, 100}));
  world.to(1);
  EXPECT_DOUBLE_EQ(world.position(), 0.3);
}

// 10 units at 100 on a base of 1000: exposure 1, 0.2 over the threshold.
TEST(RuleTableEpisodes, TheExposurePenaltyLooksBeforeOrAfterTheTrade) {
  EnvConfig classic_config = plain_classic();
  EnvConfig market_config = plain_market();
  classic_config.risk_weight = market_config.risk_weight = 0.5;
  ClassicWorld classic(classic_config, closes({100, 100, 100}));
  EXPECT_EQ(classic.to(1).reward.risk, 0.0f);
  EXPECT_FLOAT_EQ(classic.to(0).reward.risk, -0.1f);

  MarketWorld market(market_config, closes({100, 100, 100}));
  EXPECT_DOUBLE_EQ(market.to(1).reward.risk, -0.1);
  EXPECT_EQ(market.to(0).reward.risk, 0.0);

  market_config.barrier_stop_bps = 100;
  MarketWorld stopped(market_config, closes({100, 90, 90}));
  const auto filled = stopped.to(1);
  EXPECT_EQ(stopped.position(), 0.0);
  EXPECT_DOUBLE_EQ(filled.reward.risk, -0.1) << "before the fill";
}

TEST(RuleTableEpisodes, TheCostOfACutBuy) {
  EnvConfig classic_config = plain_classic();
  EnvConfig market_config = plain_market();
  classic_config.cost_market = market_config.cost_market = 0.01;
  classic_config.reserve_pct = market_config.reserve_pct = 25;

  ClassicWorld classic(classic_config, closes({100, 100}));
  EXPECT_FLOAT_EQ(classic.to(1).cost, 10.0f) << "1 % of the uncut 1000";
  EXPECT_EQ(classic.position(), 7.0f) << "(990 − 247.5)/100, whole";
  EXPECT_FLOAT_EQ(classic.cash(), 290.0f);

  MarketWorld market(market_config, closes({100, 100}));
  EXPECT_DOUBLE_EQ(market.to(1).cost, 750 / 101.0) << "1 % of 750/1.01";
  EXPECT_DOUBLE_EQ(market.position(), 750 / 101.0);
}

TEST(RuleTableEpisodes, TheTimeLimitIsTerminalOrTruncated) {
  EnvConfig classic_config = plain_classic();
  EnvConfig market_config = plain_market();
  classic_config.episode_length = market_config.episode_length = 2;
  ClassicWorld classic(classic_config, closes({100, 100, 100, 100, 100}));
  MarketWorld market(market_config, closes({100, 100, 100, 100, 100}));
  const auto classic_first = classic.to(0);
  const auto market_first = market.to(0);
  EXPECT_FALSE(classic_first.terminal || classic_first.truncated);
  EXPECT_FALSE(market_first.terminal || market_first.truncated);
  const auto classic_last = classic.to(0);
  EXPECT_TRUE(classic_last.terminal);
  EXPECT_FALSE(classic_last.truncated);
  const auto market_last = market.to(0);
  EXPECT_FALSE(market_last.terminal);
  EXPECT_TRUE(market_last.truncated);
}

TEST(RuleTableEpisodes, TheEndOfTheDataIsTerminalOrTruncated) {
  ClassicWorld classic(plain_classic(), closes({100, 100, 100}));
  MarketWorld market(plain_market(), closes({100, 100, 100}));
  EXPECT_FALSE(classic.to(0).terminal);
  EXPECT_FALSE(market.to(0).truncated);
  EXPECT_TRUE(classic.to(0).terminal);
  const auto last = market.to(0);
  EXPECT_TRUE(last.truncated);
  EXPECT_FALSE(last.terminal);
}

TEST(RuleTableEpisodes, RuinOnTheLastBarIsTerminalOnly) {
  MarketWorld world(plain_market(), closes({100, 201}));
  const auto last = world.to(-1);
  EXPECT_TRUE(last.terminal);
  EXPECT_FALSE(last.truncated);
}

TEST(RuleTableEpisodes, ALabelEndsTheEpisodeOrLeavesItFlat) {
  EnvConfig classic_config = plain_classic();
  classic_config.barrier_profit_bps = 500;
  classic_config.barrier_ends_episode = Config::defaults(RuleSet::kClassic).env.barrier_ends_episode;
  ClassicWorld classic(classic_config, closes({100, 105, 105, 105}));
  EXPECT_FALSE(classic.to(1).terminal);
  EXPECT_TRUE(classic.to(1).terminal);

  EnvConfig market_config = plain_market();
  market_config.barrier_profit_bps = 500;
  market_config.barrier_ends_episode = Config::defaults(RuleSet::kMarket).env.barrier_ends_episode;
  MarketWorld market(market_config, closes({100, 105, 105, 105}));
  const auto labelled = market.to(1);
  EXPECT_EQ(labelled.label, Label::kProfit);
  EXPECT_FALSE(labelled.terminal || labelled.truncated);
  EXPECT_EQ(market.position(), 0.0);
  EXPECT_EQ(market.slot.diversity.size, 1) << "the ring is kept";
  EXPECT_EQ(market.to(0.5).label, Label::kNone);
  EXPECT_EQ(market.slot.diversity.size, 2);

  market_config.barrier_ends_episode = true;
  EXPECT_TRUE(MarketWorld(market_config, closes({100, 105, 105})).to(1).terminal);
}

TEST(RuleTableEpisodes, ClassicGoesOnBelowNothing) {
  ClassicWorld world(plain_classic(), closes({100, 250, 240, 240}));
  const auto fell = world.to(-1);
  EXPECT_EQ(fell.next_equity, -500.0f);
  EXPECT_FLOAT_EQ(fell.reward.ret, -1.5f);
  EXPECT_FALSE(fell.terminal || fell.ruin);
  const auto below = world.to(-1);
  EXPECT_EQ(below.equity, -500.0f);
  EXPECT_EQ(below.next_equity, -400.0f);
  EXPECT_EQ(below.reward.ret, 0.0f);
}

// 100 units on a base of 1000, gapped from 100 to 80: -1000. Every other component would have counted.
TEST(RuleTableEpisodes, MarketRuinCostsTheRewardScaleAndNothingElse) {
  EnvConfig config = plain_market();
  config.max_exposure = config.leverage = 10;
  config.barrier_stop_bps = 100;
  config.reward_scale = 2.5;
  config.risk_weight = 0.5;
  config.diversity_window = 3;
  config.diversity_penalty = 0.1;
  MarketWorld world(config, closes({100, 100, 100, 80, 80}));
  world.to(1);
  world.to(1);
  const auto ruin = world.to(1);
  EXPECT_TRUE(ruin.ruin);
  EXPECT_TRUE(ruin.terminal);
  EXPECT_EQ(ruin.next_equity, -1000.0);
  EXPECT_EQ(ruin.label, Label::kStop) << "label and fill stay";
  EXPECT_EQ(ruin.fill_price, 80.0);
  EXPECT_EQ(ruin.reward.ret, -2.5);
  EXPECT_EQ(ruin.reward.risk, 0.0);
  EXPECT_EQ(ruin.reward.diversity, 0.0);
  EXPECT_EQ(total_reward(ruin.reward, ruin.ruin, 0.05), -2.5);
}

TEST(RuleTableEpisodes, TheStatesThirdNumberIsTheSpreadOrTheOpenReturn) {
  EnvConfig classic_config = plain_classic();
  classic_config.spread = 0.0003;
  ClassicWorld classic(classic_config, closes({100, 120, 120}));
  classic.to(0.5);
  const Observation c = observe<kClassicRules>(classic.params, classic.slot.portfolio, 120);
  EXPECT_FLOAT_EQ(c.number[0], 1.1f);
  EXPECT_FLOAT_EQ(c.number[1], 0.6f);
  EXPECT_EQ(c.number[2], 0.0003f);

  MarketWorld market(plain_market(), closes({100, 120, 120}));
  EXPECT_EQ(observe<kMarketRules>(market.params, market.slot.portfolio, 100).number[2], 0.0f);
  market.to(-0.5);
  const Observation m = observe<kMarketRules>(market.params, market.slot.portfolio, 120);
  EXPECT_FLOAT_EQ(m.number[0], 0.9f);
  EXPECT_FLOAT_EQ(m.number[1], -0.6f);
  EXPECT_FLOAT_EQ(m.number[2], -0.2f) << "side·(price/entry − 1)";
}

}  // namespace
}  // namespace warptape
