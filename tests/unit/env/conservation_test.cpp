// What holds at every step whatever the parameters, prices and actions: checked along random walks under both rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "env_test_tools.h"

namespace warptape {
namespace {

/// Engine and arithmetic are fixed by the standard, unlike std::uniform_real_distribution: the same walk everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  bool chance(double probability) { return unit() < probability; }
  double one_of(std::initializer_list<double> values) {
    return values.begin()[static_cast<std::size_t>(unit() * static_cast<double>(values.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

EnvConfig random_config(RuleSet rules, Random& random) {
  EnvConfig c = Config::defaults(rules).env;
  c.initial_capital = random.between(100, 1e6);
  c.max_exposure = random.one_of({0.3, 1.0, 2.5});
  if (random.chance(0.3)) c.max_position = random.between(0.1, 100);
  c.leverage = random.one_of({0.5, 1.0, 3.0, 10.0});
  c.reserve_pct = random.one_of({0, 0, 5, 40});
  c.lot_size = random.one_of({0, 0, 0.1, 1, 7});
  c.cost_market = random.one_of({0, 0.0001, 0.01});
  c.cost_ioc = random.one_of({0, 0.003});
  c.episode_length = 80;
  c.barrier_profit_bps = random.one_of({0, 50, 300});
  c.barrier_stop_bps = random.one_of({0, 50, 300});
  c.barrier_max_bars = static_cast<std::int64_t>(random.one_of({0, 5, 100}));
  c.barrier_ends_episode = random.chance(0.3);
  c.barrier_reward_scale = random.one_of({0, 1});
  c.diversity_penalty = random.one_of({0, 0.1});
  c.risk_weight = random.one_of({0, 0.5});
  return c;
}

StepPrices next_prices(double close, Random& random) {
  const double widest = random.chance(0.05) ? 0.4 : 0.02;
  StepPrices px{};
  px.close = close;
  px.next_open = close * (1 + random.between(-widest, widest) / 2);
  px.next_close = px.next_open * (1 + random.between(-widest, widest));
  px.next_high = std::max(px.next_open, px.next_close) * (1 + random.between(0, widest));
  px.next_low = std::min(px.next_open, px.next_close) * (1 - random.between(0, widest));
  return px;
}

/// One step and what surrounds it.
template <Rules R>
struct Walked {
  const EnvParams& params;
  const StepPrices& px;
  int action;
  Slot<Money<R>> before;
  StepResult<Money<R>> result;
  Slot<Money<R>> after;
};

/// Shows every step of many random episodes, chains among them, until a test has failed.
template <Rules R>
void walk(std::uint64_t seed, const std::function<void(const Walked<R>&)>& look) {
  Random random(seed);
  for (int world = 0; world < 150 && !testing::Test::HasFailure(); ++world) {
    const EnvParams params = make_params(random_config(R.float64_money ? RuleSet::kMarket : RuleSet::kClassic, random));
    double close = random.between(0.5, 500);
    Slot<Money<R>> slot{};
    slot.last_bar = std::numeric_limits<i32>::max();
    begin_episode<R>(params, slot, close);
    int action = 0;
    for (int t = 0; t < 200 && close > 1e-3 && !testing::Test::HasFailure(); ++t) {
      if (random.chance(0.6)) action = static_cast<int>(random.between(0, params.actions.count));
      const StepPrices px = next_prices(close, random);
      const Slot<Money<R>> before = slot;
      const StepResult<Money<R>> result = step<R>(params, slot, action, px);
      look(Walked<R>{params, px, action, before, result, slot});
      close = px.next_close;
      if (!result.terminal && !result.truncated) continue;
      if (R.restart_at_random && !result.ruin && random.chance(0.5)) {
        chain_episode<R>(params, slot, close);
      } else {
        begin_episode<R>(params, slot, close);
      }
    }
  }
}

/// The largest amount that a step of these magnitudes rounds, times half a unit in the last place, times more
/// operations than a step has.
template <Rules R>
double rounding_bound(const Walked<R>& s) {
  const double units = std::abs(double(s.before.portfolio.position)) + std::abs(double(s.result.traded_position));
  const double price = std::max({s.px.close, s.px.next_close, double(s.result.fill_price)});
  const double amount =
      std::abs(double(s.before.portfolio.cash)) + std::abs(double(s.after.portfolio.cash)) + units * price;
  return 32 * amount * double(std::numeric_limits<Money<R>>::epsilon()) / 2;
}

template <Rules R>
double exit_cost(const Walked<R>& s) {
  return std::abs(double(s.result.traded_position)) * double(s.result.fill_price) * s.params.exit_cost_rate;
}

template <Rules R>
void expect_equity_to_be_conserved(std::uint64_t seed) {
  int steps = 0;
  int fills = 0;
  walk<R>(seed, [&](const Walked<R>& s) {
    const bool filled = s.result.fill_price > 0;
    const double leaves_at = double(filled ? s.result.fill_price : s.result.next_price);
    const double expected =
        double(s.result.traded_position) * (leaves_at - double(s.result.price)) - double(s.result.cost);
    const double change = double(s.result.next_equity) - double(s.result.equity);
    EXPECT_NEAR(change, expected, rounding_bound(s)) << "action " << s.action << ", episode " << s.after.episode;
    EXPECT_EQ(filled, R.resting_exits && s.result.label != Label::kNone);
    ++steps;
    fills += filled;
  });
  EXPECT_GT(steps, 10000);
  EXPECT_GE(fills, R.resting_exits ? 1000 : 0);
}

TEST(Conservation, EquityMovesByPositionTimesPriceLessCostsUnderMarketRules) {
  expect_equity_to_be_conserved<kMarketRules>(11);
}

TEST(Conservation, EquityMovesByPositionTimesPriceLessCostsUnderClassicRules) {
  expect_equity_to_be_conserved<kClassicRules>(12);
}

template <Rules R>
void expect_equity_to_be_cash_and_position(std::uint64_t seed) {
  walk<R>(seed, [](const Walked<R>& s) {
    const Portfolio<Money<R>>& before = s.before.portfolio;
    const Portfolio<Money<R>>& after = s.after.portfolio;
    EXPECT_EQ(s.result.equity, before.cash + before.position * static_cast<Money<R>>(s.px.close));
    EXPECT_EQ(s.result.next_equity, after.cash + after.position * static_cast<Money<R>>(s.px.next_close));
    if (s.result.fill_price == 0) {
      EXPECT_EQ(s.result.traded_position, after.position);
    }
  });
}

TEST(Conservation, EquityIsCashAndPositionAtThePrice) {
  expect_equity_to_be_cash_and_position<kMarketRules>(21);
  expect_equity_to_be_cash_and_position<kClassicRules>(22);
}

template <Rules R>
void expect_costs_to_add_up(std::uint64_t seed) {
  walk<R>(seed, [](const Walked<R>& s) {
    EXPECT_GE(s.result.cost, 0);
    EXPECT_GE(s.after.portfolio.cumulative_cost, s.before.portfolio.cumulative_cost);
    EXPECT_NEAR(double(s.after.portfolio.cumulative_cost) - double(s.before.portfolio.cumulative_cost),
                double(s.result.cost), rounding_bound(s));
  });
}

TEST(Conservation, CumulativeCostsNeverFall) {
  expect_costs_to_add_up<kMarketRules>(31);
  expect_costs_to_add_up<kClassicRules>(32);
}

// |position|·p <= leverage·(equity - reserve - cost) whenever something was opened or added. Lots forgive 1e-12 of the
// size, and the limit's own division as much again.
TEST(Conservation, WhatIsOpenedOrAddedIsWithinBuyingPower) {
  int limited = 0;
  walk<kMarketRules>(41, [&](const Walked<kMarketRules>& s) {
    const double before = s.before.portfolio.position;
    const double after = s.result.traded_position;
    if (after == 0 || (before * after > 0 && std::abs(after) <= std::abs(before))) return;
    const double reserve = s.result.equity * s.params.reserve_pct / 100;
    const double trade_cost = s.result.cost - exit_cost(s);
    const double power = s.params.leverage * (s.result.equity - reserve - trade_cost);
    EXPECT_LE(std::abs(after) * s.px.close, power * (1 + 1e-11) + rounding_bound(s));
    limited += std::abs(after) * s.px.close > 0.99 * power;
  });
  EXPECT_GT(limited, 100) << "the limit must have bitten for the test to mean something";
}

TEST(Conservation, BuyingPowerNeverForcesAReduction) {
  walk<kMarketRules>(42, [](const Walked<kMarketRules>& s) {
    const double before = s.before.portfolio.position;
    const double target = s.params.actions.exposure[s.action] * s.before.portfolio.cap;
    if (before == 0 || before * target <= 0 || std::abs(target) < std::abs(before)) return;
    EXPECT_GE(std::abs(s.result.traded_position), std::abs(before));
  });
}

TEST(Conservation, EveryMarketPositionIsInWholeLots) {
  int lots_held = 0;
  walk<kMarketRules>(51, [&](const Walked<kMarketRules>& s) {
    const double lot = s.params.lot_size;
    if (lot == 0) return;
    EXPECT_EQ(s.result.traded_position, std::round(s.result.traded_position / lot) * lot);
    lots_held += s.result.traded_position != 0;
  });
  EXPECT_GT(lots_held, 1000);
}

TEST(Conservation, EntryAndBarriersBelongToAnOpenMarketPosition) {
  walk<kMarketRules>(61, [](const Walked<kMarketRules>& s) {
    const Portfolio<double>& f = s.after.portfolio;
    EXPECT_EQ(f.entry > 0, f.position != 0);
    EXPECT_EQ(f.entry == 0, f.position == 0);
    if (f.position == 0) {
      EXPECT_EQ(s.after.barrier.upper, 0.0);
      EXPECT_EQ(s.after.barrier.lower, 0.0);
    }
  });
}

template <Rules R>
void expect_no_trade_on_target(std::uint64_t seed) {
  int held = 0;
  walk<R>(seed, [&](const Walked<R>& s) {
    const Portfolio<Money<R>>& f = s.before.portfolio;
    const Money<R> target = static_cast<Money<R>>(s.params.actions.exposure[s.action]) * f.cap;
    if (f.position != target || target == 0) return;
    ++held;
    EXPECT_EQ(s.result.traded_position, f.position);
    if (s.result.fill_price > 0) {
      EXPECT_NEAR(double(s.result.cost), exit_cost(s), rounding_bound(s));
    } else {
      EXPECT_EQ(s.result.cost, 0);
      EXPECT_EQ(s.after.portfolio.cash, f.cash);
      EXPECT_EQ(s.after.portfolio.entry, f.entry);
    }
  });
  EXPECT_GT(held, 500);
}

TEST(Conservation, HoldingAFullyFilledExposureTradesNothing) {
  expect_no_trade_on_target<kMarketRules>(71);
  expect_no_trade_on_target<kClassicRules>(72);
}

bool is_sound(double x) {
  return std::isfinite(x) && !(x == 0 && std::signbit(x));
}

/// Counts what is NaN, infinite or -0: "-0" in a row of `simulate` is a difference between backends to a text diff.
template <Rules R>
void expect_sound_numbers(std::uint64_t seed) {
  walk<R>(seed, [](const Walked<R>& s) {
    const Portfolio<Money<R>>& f = s.after.portfolio;
    const double numbers[] = {double(f.cash),
                              double(f.position),
                              double(f.entry),
                              double(f.base),
                              double(f.cap),
                              double(f.cumulative_cost),
                              double(s.result.equity),
                              double(s.result.cost),
                              double(s.result.next_equity),
                              double(s.after.barrier.upper),
                              double(s.after.barrier.lower),
                              double(s.result.fill_price),
                              double(s.result.traded_position),
                              double(s.result.reward.ret),
                              double(s.result.reward.risk),
                              double(s.result.reward.diversity),
                              double(total_reward(s.result.reward, s.result.ruin, Money<R>(0)))};
    for (std::size_t i = 0; i < std::size(numbers); ++i) EXPECT_TRUE(is_sound(numbers[i])) << i << ": " << numbers[i];
    const Observation o = observe<R>(s.params, f, s.result.next_price);
    for (const float number : o.number) EXPECT_TRUE(is_sound(number)) << number;
  });
}

TEST(Conservation, NoNumberIsMinusZeroOrNaN) {
  expect_sound_numbers<kMarketRules>(81);
  expect_sound_numbers<kClassicRules>(82);
}

}  // namespace
}  // namespace warptape
