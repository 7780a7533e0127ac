#include "backtest/play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/check.h"
#include "env/make_params.h"
#include "env/step.h"

namespace warptape {
namespace {

constexpr int kShort = 0, kFlat = 2, kHalf = 3, kLong = 4;  // the default exposures

/// Capital 1000, free of cost, no barriers, no shaping, actions are the exposures.
EnvConfig plain(RuleSet rules) {
  EnvConfig c = Config::defaults(rules).env;
  c.initial_capital = 1000;
  c.cost_market = 0;
  c.order_types = {"market"};
  c.urgency_cost = {1};
  c.barrier_profit_bps = rules == RuleSet::kClassic ? 9999 : 0;
  c.barrier_stop_bps = rules == RuleSet::kClassic ? 9999 : 0;
  c.diversity_penalty = 0;
  c.risk_weight = 0;
  return c;
}

/// Bars that trade at one price each, an hour apart.
Bars flat_bars(const std::vector<double>& closes) {
  Bars bars;
  bars.open = bars.high = bars.low = bars.close = closes;
  for (std::size_t i = 0; i < closes.size(); ++i) bars.ts_ns.push_back(static_cast<std::int64_t>(i) * 3600);
  return bars;
}

ActionSource always(int action) {
  return [action](std::int64_t, const Observation&) { return action; };
}

Trace play_flat(RuleSet rules, const EnvConfig& config, const std::vector<double>& closes, const PlayOptions& options,
                const ActionSource& act) {
  const Bars bars = flat_bars(closes);
  return play(rules, make_params(config), view_of(bars), options, act);
}

TEST(Play, TheGoldenChainCompounds) {
  EnvConfig config = plain(RuleSet::kMarket);
  config.episode_length = 2;
  std::vector<Observation> seen;
  const Trace trace = play_flat(RuleSet::kMarket, config, {100, 110, 121, 133.1}, {.chain = true},
                                [&](std::int64_t, const Observation& o) {
                                  seen.push_back(o);
                                  return kLong;
                                });
  ASSERT_EQ(trace.rows.size(), 3u);
  EXPECT_DOUBLE_EQ(trace.rows[0].next_equity, 1100);
  EXPECT_DOUBLE_EQ(trace.rows[1].next_equity, 1210);
  EXPECT_DOUBLE_EQ(trace.rows[2].next_equity, 1331);
  for (const StepRow& row : trace.rows) {
    EXPECT_EQ(row.position, 10);
    EXPECT_EQ(row.entry_price, 100) << "entry goes on";
    EXPECT_FALSE(row.terminal);
  }
  EXPECT_EQ(trace.rows[2].cost, 0);
  EXPECT_FALSE(trace.rows[0].truncated);
  EXPECT_TRUE(trace.rows[1].truncated);
  EXPECT_TRUE(trace.rows[2].truncated) << "the end of the data";

  ASSERT_EQ(seen.size(), 3u);
  EXPECT_FLOAT_EQ(seen[1].number[0], 1.1f);
  EXPECT_FLOAT_EQ(seen[2].number[0], 1.0f) << "the base became 1210";
  EXPECT_FLOAT_EQ(seen[2].number[1], 1.0f);
  EXPECT_FLOAT_EQ(seen[2].number[2], 0.21f) << "the return since entry goes on";
}

// Half of the cap: 5 units at 100; at 200 the equity is 1500, of which half buys 3.75.
TEST(Play, AChainFixesTheCapAnew) {
  EnvConfig config = plain(RuleSet::kMarket);
  config.episode_length = 1;
  const Trace trace = play_flat(RuleSet::kMarket, config, {100, 200, 200}, {.chain = true}, always(kHalf));
  ASSERT_EQ(trace.rows.size(), 2u);
  EXPECT_EQ(trace.rows[0].position, 5);
  EXPECT_EQ(trace.rows[1].position, 3.75);
  EXPECT_EQ(trace.rows[1].cash, 750);

  config.max_position = 10.0;
  const Trace units = play_flat(RuleSet::kMarket, config, {100, 200, 200}, {.chain = true}, always(kHalf));
  EXPECT_EQ(units.rows[1].position, 5) << "a cap in units stays";
}

TEST(Play, AMarketChainKeepsBarriersRingAndCosts) {
  EnvConfig config = plain(RuleSet::kMarket);
  config.episode_length = 2;
  config.max_position = 5.0;
  config.cost_market = 0.001;
  config.barrier_profit_bps = 5000;
  config.diversity_window = 3;
  config.diversity_penalty = 0.1;
  const Trace trace = play_flat(RuleSet::kMarket, config, {100, 100, 100, 100}, {.chain = true}, always(kLong));
  ASSERT_EQ(trace.rows.size(), 3u);
  EXPECT_EQ(trace.rows[2].barrier_upper, 150);
  EXPECT_EQ(trace.rows[2].cumulative_cost, 0.5);
  EXPECT_EQ(trace.rows[1].reward_diversity, 0);
  EXPECT_EQ(trace.rows[2].reward_diversity, -0.1) << "three of a kind, the first two from the episode before";
}

TEST(Play, AMarketChainGoesOnAfterALabelThatEndsTheEpisode) {
  EnvConfig config = plain(RuleSet::kMarket);
  config.barrier_profit_bps = 500;
  config.barrier_ends_episode = true;
  const std::vector<double> closes = {100, 105, 105, 105};
  const Trace chained = play_flat(RuleSet::kMarket, config, closes, {.chain = true}, always(kLong));
  ASSERT_EQ(chained.rows.size(), 3u);
  EXPECT_TRUE(chained.rows[0].terminal);
  EXPECT_EQ(chained.rows[0].barrier_label, 1);
  EXPECT_EQ(chained.rows[0].fill_price, 105);
  EXPECT_EQ(chained.rows[0].traded_position, 10);
  EXPECT_EQ(chained.rows[0].position, 0);
  EXPECT_DOUBLE_EQ(chained.rows[1].position, 10) << "1050/105";
  EXPECT_EQ(play_flat(RuleSet::kMarket, config, closes, {}, always(kLong)).rows.size(), 1u);
}

TEST(Play, AClassicChainStartsAfresh) {
  EnvConfig config = plain(RuleSet::kClassic);
  config.episode_length = 2;
  config.cost_market = 0.001;
  config.diversity_window = 3;
  config.diversity_penalty = 0.1;
  const Trace trace = play_flat(RuleSet::kClassic, config, {100, 110, 125, 250}, {.chain = true}, always(kLong));
  ASSERT_EQ(trace.rows.size(), 3u);
  EXPECT_FLOAT_EQ(static_cast<float>(trace.rows[1].next_equity), 1249);  // 10 units and 1 of cost
  EXPECT_TRUE(trace.rows[1].terminal);
  EXPECT_FALSE(trace.rows[1].truncated);
  const StepRow& fresh = trace.rows[2];
  EXPECT_EQ(fresh.equity, 1000);
  EXPECT_EQ(fresh.position, 8) << "1000/125";
  EXPECT_EQ(fresh.entry_price, 125);
  EXPECT_EQ(fresh.cumulative_cost, 1);
  EXPECT_EQ(fresh.reward_diversity, 0) << "the ring is empty again";
}

TEST(Play, WithoutAChainTheFirstEndIsTheLastRow) {
  for (const RuleSet rules : {RuleSet::kClassic, RuleSet::kMarket}) {
    EnvConfig config = plain(rules);
    config.episode_length = 2;
    const Trace trace = play_flat(rules, config, {100, 110, 121, 133, 133}, {}, always(kLong));
    ASSERT_EQ(trace.rows.size(), 2u);
    EXPECT_EQ(trace.rows[1].terminal, rules == RuleSet::kClassic);
    EXPECT_EQ(trace.rows[1].truncated, rules == RuleSet::kMarket);
  }
}

TEST(Play, RuinEndsAChain) {
  const std::vector<double> closes = {100, 150, 250, 100, 100};
  const Trace ruined = play_flat(RuleSet::kMarket, plain(RuleSet::kMarket), closes, {.chain = true}, always(kShort));
  ASSERT_EQ(ruined.rows.size(), 2u);
  EXPECT_EQ(ruined.rows[1].next_equity, -500);
  EXPECT_TRUE(ruined.rows[1].terminal);
  EXPECT_EQ(ruined.rows[1].reward, -1);
}

TEST(Play, ClassicGoesOnBelowNothing) {
  EnvConfig config = plain(RuleSet::kClassic);
  config.barrier_ends_episode = false;  // a short from flat is labelled at once
  const Trace below = play_flat(RuleSet::kClassic, config, {100, 250, 240, 240}, {.chain = true}, always(kShort));
  ASSERT_EQ(below.rows.size(), 3u);
  EXPECT_EQ(below.rows[0].next_equity, -500);
  EXPECT_EQ(below.rows[1].next_equity, -400);
}

TEST(Play, StartsAtTheFirstBarAndEndsBeforeTheLast) {
  std::vector<std::int64_t> asked;
  const Trace trace = play_flat(RuleSet::kMarket, plain(RuleSet::kMarket), {100, 100, 200, 220, 242}, {.first_bar = 2},
                                [&](std::int64_t bar, const Observation&) {
                                  asked.push_back(bar);
                                  return kLong;
                                });
  EXPECT_EQ(asked, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(trace.rows.size(), 2u);
  EXPECT_EQ(trace.rows[0].bar, 2);
  EXPECT_EQ(trace.rows[0].ts_ns, 2 * 3600);
  EXPECT_EQ(trace.rows[0].price, 200);
  EXPECT_EQ(trace.rows[0].position, 5) << "the cap is of the first bar's price";
  EXPECT_EQ(trace.rows[1].bar, 3);
  EXPECT_EQ(trace.rows[1].next_price, 242);
  EXPECT_TRUE(trace.rows[1].truncated);
}

TEST(Play, NoActionEndsThePlayWithoutAFlag) {
  const Trace trace = play_flat(RuleSet::kMarket, plain(RuleSet::kMarket), {100, 100, 100, 100}, {.chain = true},
                                [](std::int64_t bar, const Observation&) { return bar < 2 ? kLong : kNoAction; });
  ASSERT_EQ(trace.rows.size(), 2u);
  EXPECT_FALSE(trace.rows[1].terminal);
  EXPECT_FALSE(trace.rows[1].truncated);
}

TEST(Play, RecordsCapitalAndDigits) {
  const Trace market = play_flat(RuleSet::kMarket, plain(RuleSet::kMarket), {100, 100}, {}, always(kFlat));
  const Trace classic = play_flat(RuleSet::kClassic, plain(RuleSet::kClassic), {100, 100}, {}, always(kFlat));
  EXPECT_EQ(market.initial_capital, 1000);
  EXPECT_EQ(market.digits, 17);
  EXPECT_EQ(classic.digits, 9);
}

TEST(Play, RefusesStartsAndActionsThatDoNotExist) {
  const EnvConfig config = plain(RuleSet::kMarket);
  EXPECT_THROW(play_flat(RuleSet::kMarket, config, {100, 100}, {.first_bar = 1}, always(kFlat)), Bug);
  EXPECT_THROW(play_flat(RuleSet::kMarket, config, {100, 100}, {.first_bar = -1}, always(kFlat)), Bug);
  EXPECT_THROW(play_flat(RuleSet::kMarket, config, {100}, {}, always(kFlat)), Bug);
  EXPECT_THROW(play_flat(RuleSet::kMarket, config, {100, 100}, {}, always(5)), Bug);
}

TEST(Play, ViewsOneSegmentOfADataset) {
  Dataset dataset;
  dataset.open = {1, 2, 3, 4, 5};
  dataset.high = {11, 12, 13, 14, 15};
  dataset.low = {21, 22, 23, 24, 25};
  dataset.close = {31, 32, 33, 34, 35};
  dataset.ts_ns = {41, 42, 43, 44, 45};
  const BarView view = view_of(dataset, Segment{"second", 2, 3});
  EXPECT_EQ(view.count, 3);
  EXPECT_EQ(view.open[0], 3);
  EXPECT_EQ(view.high[0], 13);
  EXPECT_EQ(view.low[0], 23);
  EXPECT_EQ(view.close[2], 35);
  EXPECT_EQ(view.ts_ns[0], 43);
}

/// A wavy series with gaps and wicks, so that barriers fill and reversals happen.
Bars wavy_bars(int count) {
  Bars bars;
  for (int i = 0; i < count; ++i) {
    const double close = 100 + 8 * std::sin(0.7 * i) + 3 * std::cos(2.3 * i);
    const double open = close + 2 * std::sin(1.9 * i);
    bars.open.push_back(open);
    bars.close.push_back(close);
    bars.high.push_back(std::max(open, close) + 0.5);
    bars.low.push_back(std::min(open, close) - 0.5);
    bars.ts_ns.push_back(i);
  }
  return bars;
}

EnvConfig busy(RuleSet rules) {
  EnvConfig config = Config::defaults(rules).env;
  config.initial_capital = 1000;
  config.episode_length = 7;
  config.barrier_profit_bps = 400;
  config.barrier_stop_bps = 300;
  config.diversity_window = 5;
  config.diversity_penalty = 0.1;
  config.risk_weight = 0.5;
  config.reserve_pct = 5;
  return config;
}

int busy_action(std::int64_t bar) {
  return static_cast<int>(bar * bar * 7 + bar * 13) % 45;
}

/// There is no second simulator: every column is what the step itself gives.
template <Rules R>
void expect_rows_of_the_step(RuleSet rules) {
  const EnvParams params = make_params(busy(rules));
  const Bars bars = wavy_bars(60);
  const Trace trace = play(rules, params, view_of(bars), {.chain = true},
                           [](std::int64_t bar, const Observation&) { return busy_action(bar); });
  ASSERT_EQ(trace.rows.size(), 59u);

  Slot<Money<R>> slot{};
  slot.last_bar = 59;
  begin_episode<R>(params, slot, bars.close[0]);
  int labels = 0;
  for (std::size_t b = 0; b < trace.rows.size() && !testing::Test::HasFailure(); ++b) {
    SCOPED_TRACE(b);
    const StepRow& row = trace.rows[b];
    const StepResult<Money<R>> s =
        step<R>(params, slot, busy_action(static_cast<std::int64_t>(b)),
                {bars.close[b], bars.open[b + 1], bars.high[b + 1], bars.low[b + 1], bars.close[b + 1]});
    const double from_step[] = {s.price,
                                s.next_price,
                                s.traded_position,
                                s.equity,
                                s.next_equity,
                                s.cost,
                                s.fill_price,
                                double(static_cast<i32>(s.label)),
                                s.reward.ret,
                                s.reward.risk,
                                s.reward.diversity,
                                double(s.terminal),
                                double(s.truncated)};
    const double of_step[] = {row.price,
                              row.next_price,
                              row.traded_position,
                              row.equity,
                              row.next_equity,
                              row.cost,
                              row.fill_price,
                              double(row.barrier_label),
                              row.reward_return,
                              row.reward_risk,
                              row.reward_diversity,
                              double(row.terminal),
                              double(row.truncated)};
    for (std::size_t i = 0; i < std::size(from_step); ++i) EXPECT_EQ(of_step[i], from_step[i]) << "column " << i;
    const double from_slot[] = {slot.portfolio.position,        slot.portfolio.cash, slot.portfolio.entry,
                                slot.portfolio.cumulative_cost, slot.barrier.upper,  slot.barrier.lower};
    const double of_slot[] = {row.position,        row.cash,          row.entry_price,
                              row.cumulative_cost, row.barrier_upper, row.barrier_lower};
    for (std::size_t i = 0; i < std::size(from_slot); ++i) EXPECT_EQ(of_slot[i], from_slot[i]) << "state " << i;
    EXPECT_EQ(row.reward, s.reward.ret + s.reward.risk + s.reward.diversity);
    EXPECT_EQ(row.reward_curiosity, 0);
    EXPECT_EQ(row.bar, static_cast<std::int64_t>(b));
    EXPECT_EQ(row.action, busy_action(row.bar));
    labels += s.label != Label::kNone;
    if (!s.terminal && !s.truncated) continue;
    if constexpr (R.restart_at_random) {
      chain_episode<R>(params, slot, bars.close[b + 1]);
    } else {
      begin_episode<R>(params, slot, bars.close[b + 1]);
    }
  }
  EXPECT_GT(labels, 3) << "the series must have touched barriers";
}

TEST(Play, RowsAreTheSteps) {
  expect_rows_of_the_step<kMarketRules>(RuleSet::kMarket);
  expect_rows_of_the_step<kClassicRules>(RuleSet::kClassic);
}

}  // namespace
}  // namespace warptape
