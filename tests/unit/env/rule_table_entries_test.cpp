// The table of section 7 of docs/domain.md, its rows on money, entry prices and barriers: classic against market.
#include <gtest/gtest.h>

#include "env_test_tools.h"

namespace warptape {
namespace {

using env_test::ClassicWorld;
using env_test::closes;
using env_test::MarketWorld;
using env_test::plain_classic;
using env_test::plain_market;
using env_test::PriceBar;

EnvConfig with_barriers(EnvConfig config, double profit_bps, double stop_bps) {
  config.barrier_profit_bps = profit_bps;
  config.barrier_stop_bps = stop_bps;
  return config;
}

TEST(RuleTableEntries, MoneyIsFloat32OrFloat64) {
  EnvConfig classic = plain_classic();
  EnvConfig market = plain_market();
  classic.initial_capital = market.initial_capital = 16777217;  // 2^24 + 1
  EXPECT_EQ(ClassicWorld(classic, closes({100, 100})).cash(), 16777216.0f);
  EXPECT_EQ(MarketWorld(market, closes({100, 100})).cash(), 16777217.0);
}

// 1000·float32(0.0001) lies nearer to the float below 0.1f than to 0.1f, where a rate kept in float64 would land.
TEST(RuleTableEntries, CostRatesAreRoundedToo) {
  EnvConfig classic = plain_classic();
  EnvConfig market = plain_market();
  classic.cost_market = market.cost_market = 0.0001;
  classic.max_position = market.max_position = 5.0;
  market.leverage = 2;  // room for the cost
  EXPECT_EQ(ClassicWorld(classic, closes({200, 200})).to(1).cost, 0.09999999403953552f);
  EXPECT_EQ(MarketWorld(market, closes({200, 200})).to(1).cost, 0.1);
}

// A fused multiply-add would leave the product's rounding error here, not 0.
TEST(RuleTableEntries, ProductsAreRoundedBeforeTheyAreAdded) {
  volatile float single = 0.1f;
  volatile double both = 0.1;
  const float single_square = single * single;
  const double double_square = both * both;
  EXPECT_EQ(equity_at(Portfolio<float>{-single_square, single, 0, 0, 1, 1}, single), 0.0f);
  EXPECT_EQ(equity_at(Portfolio<double>{-double_square, both, 0, 0, 1, 1}, both), 0.0);
}

// A short by reversal at 101, profit 500 bps, stop 250 bps.
TEST(RuleTableEntries, BarriersOfAShortAreMirroredUnderMarketRules) {
  ClassicWorld classic(with_barriers(plain_classic(), 500, 250), closes({100, 101, 101}));
  classic.to(1);
  classic.to(-1);
  ASSERT_EQ(classic.position(), -10.0f);
  EXPECT_FLOAT_EQ(classic.upper(), 106.05f);  // the profit, as for a long
  EXPECT_FLOAT_EQ(classic.lower(), 98.475f);  // the stop

  MarketWorld market(with_barriers(plain_market(), 500, 250), closes({100, 101, 101}));
  market.to(1);
  market.to(-1);
  ASSERT_EQ(market.position(), -10.0);
  EXPECT_DOUBLE_EQ(market.upper(), 103.525);  // the stop
  EXPECT_DOUBLE_EQ(market.lower(), 95.95);    // the profit
}

TEST(RuleTableEntries, AShortFromFlatHasAnEntryUnderMarketRulesOnly) {
  ClassicWorld classic(with_barriers(plain_classic(), 500, 250), closes({100, 100, 100}));
  EXPECT_EQ(classic.to(-1).label, Label::kProfit);
  EXPECT_EQ(classic.entry(), 0.0f);
  EXPECT_EQ(classic.upper(), 0.0f);
  EXPECT_EQ(classic.to(-1).label, Label::kNone) << "one label a position";

  MarketWorld market(with_barriers(plain_market(), 500, 250), closes({100, 100, 100}));
  EXPECT_EQ(market.to(-1).label, Label::kNone);
  EXPECT_EQ(market.entry(), 100.0);
  EXPECT_EQ(market.upper(), 102.5);
}

TEST(RuleTableEntries, ClassicCoveringMovesTheEntryAndLeavesTheBarrier) {
  ClassicWorld world(with_barriers(plain_classic(), 2000, 5000), closes({100, 100, 90, 80, 80, 121, 121}));
  world.to(1);
  world.to(-1);
  ASSERT_EQ(world.position(), -10.0f);
  EXPECT_EQ(world.entry(), 100.0f);

  world.to(-0.5);  // at 90
  EXPECT_EQ(world.position(), -5.0f);
  EXPECT_EQ(world.entry(), 90.0f);
  EXPECT_FLOAT_EQ(world.upper(), 120.0f);
  EXPECT_FLOAT_EQ(world.lower(), 50.0f);

  world.to(0);  // at 80
  EXPECT_EQ(world.position(), 0.0f);
  EXPECT_EQ(world.entry(), 80.0f);
  EXPECT_FLOAT_EQ(world.upper(), 120.0f);

  EXPECT_EQ(world.to(-1).label, Label::kNone) << "the short from flat inherits 120 and 50, not zeros";
  EXPECT_EQ(world.position(), -10.0f);
  EXPECT_EQ(world.entry(), 80.0f);
  EXPECT_EQ(world.to(-1).label, Label::kProfit) << "121 is above the inherited barrier";
}

TEST(RuleTableEntries, MarketCoveringKeepsTheEntryUntilFlat) {
  MarketWorld world(with_barriers(plain_market(), 5000, 2000), closes({100, 100, 90, 80, 80, 80}));
  world.to(1);
  world.to(-1);
  world.to(-0.5);
  EXPECT_EQ(world.position(), -5.0);
  EXPECT_EQ(world.entry(), 100.0);
  EXPECT_EQ(world.upper(), 120.0);
  EXPECT_EQ(world.lower(), 50.0);
  world.to(0);
  EXPECT_EQ(world.position(), 0.0);
  EXPECT_EQ(world.entry(), 0.0);
  EXPECT_EQ(world.upper(), 0.0);
  EXPECT_EQ(world.lower(), 0.0);
  world.to(-1);
  EXPECT_EQ(world.entry(), 80.0);
  EXPECT_EQ(world.upper(), 96.0);
  EXPECT_EQ(world.lower(), 40.0);
}

// -5 units and 1500 in cash at 3000: the equity is -13500, its 10 % reserve -1350, and (1500 + 1350)/3000 buys no unit.
TEST(RuleTableEntries, AClassicBuyCutToNothingClearsTheBarrierOfTheShort) {
  EnvConfig config = plain_classic();
  config.reserve_pct = 10;
  config.max_position = 5.0;
  ClassicWorld world(config, closes({100, 100, 3000, 3000}));
  world.to(1);
  world.to(-1);
  ASSERT_EQ(world.position(), -5.0f);
  ASSERT_EQ(world.entry(), 100.0f);
  ASSERT_GT(world.upper(), 0.0f);
  world.to(0);
  EXPECT_EQ(world.position(), -5.0f);
  EXPECT_EQ(world.cash(), 1500.0f);
  EXPECT_EQ(world.entry(), 0.0f);
  EXPECT_EQ(world.upper(), 0.0f);
  EXPECT_EQ(world.lower(), 0.0f);
}

TEST(RuleTableEntries, AMarketBuyToFlatIsNeverCut) {
  EnvConfig config = plain_market();
  config.reserve_pct = 99;
  config.max_position = 5.0;
  config.leverage = 50;  // 50·(1 % of 1000)/100 = 5 units
  MarketWorld world(config, closes({100, 299, 299}));
  world.to(-1);
  ASSERT_EQ(world.position(), -5.0);
  world.to(0);
  EXPECT_EQ(world.position(), 0.0);
  EXPECT_EQ(world.cash(), 5.0);
}

TEST(RuleTableEntries, FlatForBarriersIsAThousandthOrExactlyNothing) {
  EnvConfig config = with_barriers(plain_classic(), 0, 9999);  // 0 bps fires at once on anything not flat
  config.max_position = 0.0005;
  EXPECT_EQ(ClassicWorld(config, closes({100, 100})).to(1).label, Label::kNone);
  config.max_position = 0.002;
  EXPECT_EQ(ClassicWorld(config, closes({100, 100})).to(1).label, Label::kProfit);

  EnvConfig market = with_barriers(plain_market(), 0, 100);
  market.max_position = 0.0005;
  EXPECT_EQ(MarketWorld(market, closes({100, 90})).to(1).label, Label::kStop);
}

TEST(RuleTableEntries, ABarrierOfZeroFiresAtOnceOrIsOff) {
  EXPECT_EQ(ClassicWorld(with_barriers(plain_classic(), 0, 500), closes({100, 100})).to(1).label, Label::kProfit);
  EXPECT_EQ(ClassicWorld(with_barriers(plain_classic(), 500, 0), closes({100, 100})).to(1).label, Label::kStop);

  const std::vector<PriceBar> wild = {{100, 100, 100, 100}, {100, 900, 1, 100}};
  MarketWorld market(with_barriers(plain_market(), 0, 0), wild);
  EXPECT_EQ(market.to(1).label, Label::kNone);
  EXPECT_EQ(market.position(), 10.0);
  EXPECT_EQ(market.upper(), 0.0);
  EXPECT_EQ(market.lower(), 0.0);
}

TEST(RuleTableEntries, ATimeLimitOfZeroExpiresAtOnceOrIsOff) {
  EnvConfig classic_config = with_barriers(plain_classic(), 500, 250);
  classic_config.barrier_max_bars = 0;
  ClassicWorld classic(classic_config, closes({100, 200, 200}));
  EXPECT_EQ(classic.to(1).label, Label::kNone);
  EXPECT_EQ(classic.to(1).label, Label::kNone) << "expired on the bar it was opened";

  EnvConfig market_config = with_barriers(plain_market(), 500, 250);
  market_config.barrier_max_bars = 0;
  MarketWorld market(market_config, closes({100, 101, 102, 103, 104, 105}));
  for (int b = 0; b < 4; ++b) EXPECT_EQ(market.to(1).label, Label::kNone);
  EXPECT_EQ(market.to(1).label, Label::kProfit);
}

// Long at 100, profit 105, stop 97.5; the coming bar's range holds both, its close neither.
TEST(RuleTableEntries, BarriersAreCheckedOnClosesOrInsideTheBar) {
  const std::vector<PriceBar> bars = {
      {100, 100, 100, 100}, {100, 110, 99, 101}, {101, 106, 101, 106}, {106, 106, 106, 106}};
  ClassicWorld classic(with_barriers(plain_classic(), 500, 250), bars);
  EXPECT_EQ(classic.to(1).label, Label::kNone);
  EXPECT_EQ(classic.to(1).label, Label::kNone);
  const auto touched = classic.to(1);  // at the close of 106
  EXPECT_EQ(touched.label, Label::kProfit);
  EXPECT_EQ(touched.fill_price, 0.0f);
  EXPECT_EQ(classic.position(), 10.0f) << "the position stays open";

  MarketWorld market(with_barriers(plain_market(), 500, 250), bars);
  const auto filled = market.to(1);
  EXPECT_EQ(filled.label, Label::kProfit);
  EXPECT_EQ(filled.fill_price, 105.0);
  EXPECT_EQ(filled.next_equity, 1050.0);
  EXPECT_DOUBLE_EQ(filled.reward.ret, 0.05);
  EXPECT_EQ(market.position(), 0.0);
}

TEST(RuleTableEntries, ClassicAddingMovesTheEntryOfALongOnly) {
  ClassicWorld bought(plain_classic(), closes({100, 110, 110}));
  bought.to(0.5);
  const float upper = bought.upper();
  bought.to(1);
  EXPECT_EQ(bought.position(), 10.0f);
  EXPECT_EQ(bought.entry(), 110.0f);
  EXPECT_EQ(bought.upper(), upper);

  ClassicWorld sold(plain_classic(), closes({100, 100, 110, 110}));
  sold.to(0.5);
  sold.to(-0.5);
  sold.to(-1);
  EXPECT_EQ(sold.position(), -10.0f);
  EXPECT_EQ(sold.entry(), 100.0f);
}

TEST(RuleTableEntries, MarketAddingAveragesTheEntry) {
  EnvConfig config = with_barriers(plain_market(), 5000, 5000);
  config.leverage = 2;
  for (const double side : {1.0, -1.0}) {
    MarketWorld world(config, closes({100, 110, 110, 110}));
    world.to(0.5 * side);
    world.to(side);
    EXPECT_EQ(world.position(), 10 * side);
    EXPECT_EQ(world.entry(), 105.0) << "5 at 100 and 5 at 110";
    EXPECT_EQ(world.upper(), 150.0) << "the barrier stays with the first entry";
    EXPECT_EQ(world.lower(), 50.0);
    world.to(0.5 * side);
    EXPECT_EQ(world.entry(), 105.0) << "what is sold leaves the average of the rest";
  }
}

}  // namespace
}  // namespace warptape
