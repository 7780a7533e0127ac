#include "env/barrier.h"

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

EnvConfig with_barriers(EnvConfig config, double profit_bps, double stop_bps, std::int64_t max_bars = 1000) {
  config.barrier_profit_bps = profit_bps;
  config.barrier_stop_bps = stop_bps;
  config.barrier_max_bars = max_bars;
  return config;
}

/// What the coming bar (open, high, low) fills of a long with stop 95 and profit 110.
Fill<double> long_fill(double open, double high, double low) {
  return check_resting(Barrier<double>{110, 95, 0, 0}, true, true, open, high, low);
}

/// Of a short with stop 105 and profit 90.
Fill<double> short_fill(double open, double high, double low) {
  return check_resting(Barrier<double>{105, 90, 0, 0}, false, true, open, high, low);
}

void expect_fill(const Fill<double>& fill, Label label, double price) {
  EXPECT_EQ(fill.label, label);
  EXPECT_EQ(fill.price, price);
}

TEST(RestingExits, OfALong) {
  expect_fill(long_fill(100, 109, 96), Label::kNone, 0);
  expect_fill(long_fill(100, 101, 94), Label::kStop, 95);
  expect_fill(long_fill(92, 99, 91), Label::kStop, 92);  // gapped past: the open is all there is
  expect_fill(long_fill(100, 112, 99), Label::kProfit, 110);
  expect_fill(long_fill(115, 118, 114), Label::kProfit, 110);  // gapped past: a limit fills no better
  expect_fill(long_fill(100, 112, 94), Label::kStop, 95);      // both touched: the worse counts
  expect_fill(long_fill(115, 118, 94), Label::kStop, 95);
}

TEST(RestingExits, OfAShortAreMirrored) {
  expect_fill(short_fill(100, 104, 91), Label::kNone, 0);
  expect_fill(short_fill(100, 106, 99), Label::kStop, 105);
  expect_fill(short_fill(108, 109, 101), Label::kStop, 108);
  expect_fill(short_fill(100, 101, 88), Label::kProfit, 90);
  expect_fill(short_fill(85, 86, 82), Label::kProfit, 90);
  expect_fill(short_fill(100, 106, 88), Label::kStop, 105);
  expect_fill(short_fill(85, 106, 82), Label::kStop, 105);
}

TEST(RestingExits, EqualityTouches) {
  expect_fill(long_fill(100, 101, 95), Label::kStop, 95);
  expect_fill(long_fill(95, 99, 95), Label::kStop, 95);
  expect_fill(long_fill(100, 110, 99), Label::kProfit, 110);
  expect_fill(short_fill(100, 105, 99), Label::kStop, 105);
  expect_fill(short_fill(100, 101, 90), Label::kProfit, 90);
}

TEST(RestingExits, ABarrierThatIsOffFillsNothing) {
  const auto only_profit = [](bool is_long) {
    const Barrier<double> b = is_long ? Barrier<double>{110, 0, 0, 0} : Barrier<double>{0, 90, 0, 0};
    return check_resting(b, is_long, true, 100.0, is_long ? 101.0 : 1000.0, is_long ? 1.0 : 99.0);
  };
  expect_fill(only_profit(true), Label::kNone, 0);   // no stop at 1
  expect_fill(only_profit(false), Label::kNone, 0);  // no stop at 1000
  const auto only_stop = [](bool is_long) {
    const Barrier<double> b = is_long ? Barrier<double>{0, 95, 0, 0} : Barrier<double>{105, 0, 0, 0};
    return check_resting(b, is_long, true, 100.0, is_long ? 1000.0 : 101.0, is_long ? 99.0 : 1.0);
  };
  expect_fill(only_stop(true), Label::kNone, 0);
  expect_fill(only_stop(false), Label::kNone, 0);
}

// 10 short at 100 are bought back at 90, for 900 and 0.1 % of it, which no urgency multiplies.
TEST(RestingExits, TheFillPaysTheMarketRate) {
  EnvConfig config = with_barriers(plain_market(), 1000, 0);
  config.cost_market = 0.001;
  config.order_types = {"limit_maker"};
  config.cost_limit_maker = 0;
  config.urgency_cost = {3};
  MarketWorld world(config, {{100, 100, 100, 100}, {95, 96, 89, 95}, {95, 95, 95, 95}});
  const auto filled = world.to(-1);
  EXPECT_EQ(filled.label, Label::kProfit);
  EXPECT_EQ(filled.traded_position, -10.0);
  EXPECT_EQ(filled.fill_price, 90.0);
  EXPECT_DOUBLE_EQ(filled.cost, 0.9);
  EXPECT_DOUBLE_EQ(world.slot.portfolio.cumulative_cost, 0.9);
  EXPECT_DOUBLE_EQ(filled.next_equity, 1099.1);
  EXPECT_DOUBLE_EQ(world.cash(), 1099.1);
  EXPECT_EQ(world.entry(), 0.0);
  EXPECT_EQ(world.upper(), 0.0);
  EXPECT_EQ(world.lower(), 0.0);
}

/// Steps until a label of a long that opens at bar 0; the stop of 95 is touched on bar `touched` alone.
int steps_to_label(std::int64_t max_bars, int touched) {
  std::vector<PriceBar> bars(8, PriceBar{100, 100, 100, 100});
  bars[static_cast<std::size_t>(touched)].low = 95;
  MarketWorld world(with_barriers(plain_market(), 0, 500, max_bars), bars);
  for (int steps = 1; steps < 8; ++steps) {
    if (world.to(1).label == Label::kStop) return steps;
  }
  return 0;
}

TEST(RestingExits, AreWatchedFromTheNextBarToTheTimeLimit) {
  EXPECT_EQ(steps_to_label(3, 0), 0) << "the bar of the trade is over";
  EXPECT_EQ(steps_to_label(3, 1), 1);
  EXPECT_EQ(steps_to_label(3, 3), 3);
  EXPECT_EQ(steps_to_label(3, 4), 0);
  EXPECT_EQ(steps_to_label(1, 1), 1);
  EXPECT_EQ(steps_to_label(1, 2), 0);
  EXPECT_EQ(steps_to_label(0, 7), 7) << "0: always";
}

TEST(RestingExits, ExpiredBarriersKeepTheirPricesUntilThePositionCloses) {
  MarketWorld world(with_barriers(plain_market(), 500, 500, 1), closes({100, 100, 200, 200, 200}));
  world.to(0.5);
  EXPECT_EQ(world.to(1).label, Label::kNone) << "adding does not wind the clock up again";
  EXPECT_EQ(world.upper(), 105.0);
  EXPECT_EQ(world.lower(), 95.0);
  world.to(0);
  EXPECT_EQ(world.upper(), 0.0);
  EXPECT_EQ(world.lower(), 0.0);
}

TEST(RestingExits, AReversalStartsTheTimeLimitAfresh) {
  MarketWorld world(with_barriers(plain_market(), 500, 500, 1), closes({100, 100, 100, 110, 110}));
  world.to(1);
  world.to(1);  // expired by now
  EXPECT_EQ(world.to(-1).label, Label::kStop) << "opened at bar 2, watched on bar 3";
}

TEST(RestingExits, PricesAreExactWhereTheDecimalsAre) {
  const EnvParams params = make_params(with_barriers(plain_market(), 30, 20));
  const Barrier<double> b = set_barrier<kMarketRules>(params, 50.0, true, 7);
  EXPECT_EQ(b.upper, 50.15);  // 50·(1 + 0.003) is 50.14999999999999
  EXPECT_EQ(b.lower, 49.9);
  EXPECT_EQ(b.resolved, 0);
}

// An upper barrier at or under the lower one: both are touched at once.
TEST(ClassicBarrier, ProfitIsCheckedFirst) {
  Barrier<float> b{100, 100, 1000, 0};
  EXPECT_EQ(check_on_close(b, 100.0f, 0), Label::kProfit);
}

TEST(ClassicBarrier, EqualityTouches) {
  Barrier<float> at_profit{105, 95, 1000, 0};
  EXPECT_EQ(check_on_close(at_profit, 105.0f, 0), Label::kProfit);
  Barrier<float> at_stop{105, 95, 1000, 0};
  EXPECT_EQ(check_on_close(at_stop, 95.0f, 0), Label::kStop);
  Barrier<float> between{105, 95, 1000, 0};
  EXPECT_EQ(check_on_close(between, 95.0001f, 0), Label::kNone);
  EXPECT_EQ(between.resolved, 0);
}

TEST(ClassicBarrier, GivesOneLabelAPosition) {
  Barrier<float> b{105, 95, 1000, 0};
  EXPECT_EQ(check_on_close(b, 94.0f, 0), Label::kStop);
  EXPECT_EQ(check_on_close(b, 94.0f, 1), Label::kNone);
  EXPECT_EQ(check_on_close(b, 106.0f, 2), Label::kNone);
}

TEST(ClassicBarrier, ExpiresAtItsLastBarAfterThePricesWereChecked) {
  Barrier<float> b{105, 95, 10, 0};
  EXPECT_EQ(check_on_close(b, 100.0f, 9), Label::kNone);
  EXPECT_EQ(b.resolved, 0);
  EXPECT_EQ(check_on_close(b, 100.0f, 10), Label::kNone);
  EXPECT_EQ(check_on_close(b, 106.0f, 11), Label::kNone) << "expired";

  Barrier<float> touched{105, 95, 10, 0};
  EXPECT_EQ(check_on_close(touched, 106.0f, 10), Label::kProfit) << "a touch on the last bar counts";
}

TEST(ClassicBarrier, ExpiryIsCountedFromTheBarOfTheTrade) {
  ClassicWorld world(with_barriers(plain_classic(), 500, 500, 2), closes({100, 100, 100, 200, 200}));
  for (int step = 0; step < 4; ++step) EXPECT_EQ(world.to(1).label, Label::kNone) << step;
  ClassicWorld in_time(with_barriers(plain_classic(), 500, 500, 2), closes({100, 100, 200, 200}));
  in_time.to(1);
  in_time.to(1);
  EXPECT_EQ(in_time.to(1).label, Label::kProfit);
}

TEST(ClassicBarrier, ALabelScalesTheReturnOfItsStep) {
  EnvConfig config = with_barriers(plain_classic(), 500, 500);
  config.barrier_reward_scale = 1;
  ClassicWorld profit(config, closes({100, 110, 121, 121}));
  EXPECT_FLOAT_EQ(profit.to(1).reward.ret, 0.1f);
  EXPECT_FLOAT_EQ(profit.to(1).reward.ret, 0.1f * 1.5f);
  ClassicWorld stop(config, closes({100, 90, 81, 81}));
  stop.to(1);
  EXPECT_FLOAT_EQ(stop.to(1).reward.ret, -0.1f * 0.5f);
}

}  // namespace
}  // namespace warptape
