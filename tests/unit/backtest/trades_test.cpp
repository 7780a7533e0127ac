#include "backtest/trades.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "backtest/metrics/input.h"
#include "backtest/play.h"
#include "env/make_params.h"

namespace warptape {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;

/// A ledger of plain cash accounting that writes rows: bar i is at hour i.
class Ledger {
 public:
  explicit Ledger(double capital) : cash_(capital) { trace_.initial_capital = capital; }

  /// Trades to `units` at `price` for `cost` in all; the next bar closes at `next`; fill > 0 closes in between.
  StepRow& step(double price, double next, double units, double cost = 0, double fill = 0, int label = 0) {
    StepRow row;
    row.ts_ns = static_cast<std::int64_t>(trace_.rows.size()) * kHourNs;
    row.price = price;
    row.next_price = next;
    row.equity = cash_ + position_ * price;
    row.traded_position = units;
    cash_ -= (units - position_) * price + cost;
    position_ = units;
    if (fill > 0) {
      cash_ += units * fill;
      position_ = 0;
    }
    row.position = position_;
    row.cash = cash_;
    row.cost = cost;
    row.fill_price = fill;
    row.barrier_label = label;
    row.next_equity = cash_ + position_ * next;
    trace_.rows.push_back(row);
    return trace_.rows.back();
  }

  void start_afresh() {
    cash_ = trace_.initial_capital;
    position_ = 0;
  }

  std::vector<Trade> trades() const { return trades_of(trace_, end_ns()); }
  std::int64_t end_ns() const { return static_cast<std::int64_t>(trace_.rows.size()) * kHourNs; }
  const Trace& trace() const { return trace_; }

 private:
  double cash_, position_ = 0;
  Trace trace_;
};

double sum_of_nets(const std::vector<Trade>& trades) {
  return std::accumulate(trades.begin(), trades.end(), 0.0, [](double sum, const Trade& t) { return sum + t.net; });
}

TEST(Trades, OneLongThatAnOrderCloses) {
  Ledger ledger(10000);
  ledger.step(90, 100, 0);
  ledger.step(100, 105, 10, 1.0);
  ledger.step(105, 110, 10);
  ledger.step(110, 120, 0, 1.1);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  const Trade& t = trades[0];
  EXPECT_EQ(t.opened_ns, 1 * kHourNs);
  EXPECT_EQ(t.closed_ns, 3 * kHourNs);
  EXPECT_EQ(t.side, 1);
  EXPECT_EQ(t.units, 10);
  EXPECT_EQ(t.entry_price, 100);
  EXPECT_EQ(t.exit_price, 110);
  EXPECT_EQ(t.bars, 2);
  EXPECT_EQ(t.gross, 100);
  EXPECT_DOUBLE_EQ(t.cost, 2.1);
  EXPECT_DOUBLE_EQ(t.net, 97.9);
  EXPECT_DOUBLE_EQ(t.return_pct.value(), 9.79);
  EXPECT_EQ(t.exit, Exit::kSignal);
}

TEST(Trades, AddingAndPartClosingStayInOneTrade) {
  Ledger ledger(10000);
  ledger.step(100, 110, -10);
  ledger.step(110, 120, -20);
  ledger.step(120, 90, -15);
  ledger.step(90, 90, 0);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  EXPECT_EQ(trades[0].side, -1);
  EXPECT_EQ(trades[0].units, 20);
  EXPECT_EQ(trades[0].entry_price, 105);  // (10·100 + 10·110)/20
  EXPECT_EQ(trades[0].exit_price, 97.5);  // (5·120 + 15·90)/20
  EXPECT_EQ(trades[0].gross, 150);        // 20·(105 - 97.5)
  EXPECT_DOUBLE_EQ(trades[0].return_pct.value(), 100 * 150 / 2100.0);
}

TEST(Trades, AReversalEndsOneAndOpensTheNext) {
  // The golden reversal of docs/domain.md, section 7: capital 1000, price 100 throughout, 0.1 %, flat → +1 → -1.
  Ledger ledger(1000);
  ledger.step(100, 100, 9.99000999000999, 0.999000999000999);
  ledger.step(100, 100, -9.97004992509979, 0.999000999000999 + 0.997004992509979);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 2u);
  EXPECT_EQ(trades[0].exit, Exit::kReversal);
  EXPECT_EQ(trades[0].closed_ns, kHourNs);
  EXPECT_EQ(trades[1].opened_ns, kHourNs);
  EXPECT_EQ(trades[1].side, -1);
  EXPECT_EQ(trades[1].exit, Exit::kEndOfData);
  EXPECT_FALSE(trades[1].closed_ns.has_value());
  EXPECT_NEAR(trades[0].cost, 2 * 0.999000999, 1e-9);  // the golden equities have nine digits
  EXPECT_NEAR(trades[1].cost, 999.000999 - 0.999000999 - 997.004993, 1e-6);
  EXPECT_NEAR(sum_of_nets(trades), 997.004993 - 1000, 1e-6);
}

TEST(Trades, AStopOfTheLastRowCarriesTheTimeOfTheComingBar) {
  // docs/domain.md, section 7: capital 1000, long at 100, the next bar opens at 85 through the stop.
  Ledger ledger(1000);
  ledger.step(100, 85, 10, 0, 85, -1);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  EXPECT_EQ(trades[0].exit, Exit::kStop);
  EXPECT_EQ(trades[0].closed_ns, kHourNs);
  EXPECT_EQ(trades[0].exit_price, 85);
  EXPECT_EQ(trades[0].net, -150);
  EXPECT_EQ(trades[0].bars, 1);
}

TEST(Trades, AProfitTakenAndReopenedIsTwoTrades) {
  Ledger ledger(1000);
  ledger.step(100, 104, 5, 0.5, 105, 1);
  ledger.step(104, 106, 5, 0.52);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 2u);
  EXPECT_EQ(trades[0].exit, Exit::kProfit);
  EXPECT_DOUBLE_EQ(trades[0].net, 24.5);
  EXPECT_EQ(trades[1].entry_price, 104);
  EXPECT_EQ(trades[1].exit_price, 106);  // still open: the last price
  EXPECT_DOUBLE_EQ(trades[1].net, 9.48);
}

TEST(Trades, AReversalThatIsFilledAtOnceSharesItsCostByNotional) {
  // At 0.1 % throughout: close 10·100, open 5·100, fill 5·120: costs 1, 0.5 and 0.6.
  Ledger ledger(10000);
  ledger.step(100, 100, 10, 1.0);
  ledger.step(100, 110, -5, 2.1, 120, -1);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 2u);
  EXPECT_NEAR(trades[0].cost, 1.0 + 1.0, 1e-12);
  EXPECT_NEAR(trades[1].cost, 0.5 + 0.6, 1e-12);
  EXPECT_NEAR(trades[1].net, -100 - 1.1, 1e-12);
}

TEST(Trades, RuinClosesAtTheLastPrice) {
  Ledger ledger(1000);
  ledger.step(100, 150, -20).terminal = true;
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  EXPECT_EQ(trades[0].exit, Exit::kRuin);
  EXPECT_EQ(trades[0].closed_ns, kHourNs);
  EXPECT_EQ(trades[0].net, -1000);
}

TEST(Trades, AFreshPortfolioEndsWhatTheOldOneHeld) {
  Ledger ledger(1000);
  ledger.step(100, 110, 5);
  StepRow& label = ledger.step(110, 120, 5, 0, 0, 1);
  label.terminal = true;
  ledger.start_afresh();
  ledger.step(120, 130, 5);
  ledger.step(130, 125, 5).terminal = true;
  ledger.start_afresh();
  ledger.step(125, 130, 0);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 2u);
  EXPECT_EQ(trades[0].exit, Exit::kProfit);
  EXPECT_EQ(trades[0].exit_price, 120);
  EXPECT_EQ(trades[0].closed_ns, 2 * kHourNs);
  EXPECT_EQ(trades[1].exit, Exit::kEndOfData);
  EXPECT_EQ(trades[1].closed_ns, 4 * kHourNs);
  EXPECT_EQ(sum_of_nets(trades), 5 * 20 + 5 * 5);

  const MetricInput input = trace_input(ledger.trace(), ledger.end_ns());
  EXPECT_EQ(input.equity, (std::vector<double>{1000, 1050, 1100, 1150, 1125, 1125}));
  // Bought 5 at 100 and 5 at 120; what the portfolios held when they were replaced was not sold.
  EXPECT_EQ(input.activity->traded_notional, 500 + 600);
}

TEST(Trades, AnEpisodeThatGoesOnEndsNothing) {
  Ledger ledger(1000);
  ledger.step(100, 110, 5).truncated = true;
  ledger.step(110, 120, 5).truncated = true;
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  EXPECT_EQ(trades[0].net, 100);
}

TEST(Trades, AnOrderThatCostButBoughtNothingIsListed) {
  Ledger ledger(1000);
  ledger.step(100, 110, 0, 2.5);
  const std::vector<Trade> trades = ledger.trades();
  ASSERT_EQ(trades.size(), 1u);
  EXPECT_EQ(trades[0].units, 0);
  EXPECT_EQ(trades[0].net, -2.5);
  EXPECT_FALSE(trades[0].return_pct.has_value());
}

TEST(Trades, NoRowsNoTrades) {
  EXPECT_TRUE(trades_of(Trace{}, 0).empty());
}

// ---- on the world's own rows ------------------------------------------------------------------------------------

struct RandomWalk {
  std::vector<double> open, high, low, close;
  std::vector<std::int64_t> ts_ns;

  explicit RandomWalk(int bars, std::mt19937_64& random) {
    std::normal_distribution<double> normal(0, 0.01);
    double price = 100;
    for (int i = 0; i < bars; ++i) {
      open.push_back(price);
      price *= std::exp(normal(random));
      close.push_back(price);
      high.push_back(std::max(open.back(), price) * std::exp(std::abs(normal(random))));
      low.push_back(std::min(open.back(), price) * std::exp(-std::abs(normal(random))));
      ts_ns.push_back(i * kHourNs);
    }
  }
  BarView view() const {
    return {open.data(), high.data(), low.data(), close.data(), ts_ns.data(), static_cast<std::int64_t>(close.size())};
  }
};

Trace random_play(const EnvConfig& config, const RandomWalk& walk, std::mt19937_64& random) {
  const EnvParams params = make_params(config);
  int action = 0;
  return play(config.rules, params, walk.view(), {0, true}, [&](std::int64_t, const Observation&) {
    if (random() % 3 == 0) action = static_cast<int>(random() % static_cast<unsigned>(params.actions.count));
    return action;
  });
}

EnvConfig stormy_market() {
  EnvConfig config = Config::defaults(RuleSet::kMarket).env;
  config.barrier_profit_bps = 150;
  config.barrier_stop_bps = 100;
  config.barrier_max_bars = 20;
  config.episode_length = 37;
  config.leverage = 2;
  config.max_exposure = 1.7;
  config.cost_market = 0.001;
  return config;
}

TEST(Trades, NetsAddUpToTheChangeOfEquityUnderMarketRules) {
  std::mt19937_64 random(7);
  int fills = 0, reversals = 0;
  for (const double lot_size : {0.0, 10.0}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      EnvConfig config = stormy_market();
      config.lot_size = lot_size;
      config.barrier_ends_episode = repeat % 2 == 1;
      const RandomWalk walk(400, random);
      const Trace trace = random_play(config, walk, random);
      const std::vector<Trade> trades = trades_of(trace, walk.ts_ns.back());
      const double first = trace.rows.front().equity, last = trace.rows.back().next_equity;
      EXPECT_NEAR(sum_of_nets(trades), last - first, 1e-9 * first);

      double costs = 0;
      for (const Trade& t : trades) {
        costs += t.cost;
        fills += t.exit == Exit::kStop || t.exit == Exit::kProfit;
        reversals += t.exit == Exit::kReversal;
        EXPECT_TRUE(!t.closed_ns || *t.closed_ns > t.opened_ns);
      }
      EXPECT_NEAR(costs, trace.rows.back().cumulative_cost, 1e-9 * first);
      const auto labels = std::count_if(trace.rows.begin(), trace.rows.end(),
                                        [](const StepRow& row) { return row.barrier_label != 0; });
      const auto exits = std::count_if(trades.begin(), trades.end(),
                                       [](const Trade& t) { return t.exit == Exit::kStop || t.exit == Exit::kProfit; });
      EXPECT_EQ(exits, labels);
    }
  }
  EXPECT_GT(fills, 100);  // the walk does reach what the test is about
  EXPECT_GT(reversals, 100);
}

TEST(Trades, NetsAddUpUnderClassicRulesToFloat32) {
  std::mt19937_64 random(11);
  for (int repeat = 0; repeat < 10; ++repeat) {
    EnvConfig config = Config::defaults(RuleSet::kClassic).env;
    config.reserve_pct = repeat % 2 == 0 ? 0 : 10;
    const RandomWalk walk(400, random);
    const Trace trace = random_play(config, walk, random);
    const MetricInput input = trace_input(trace, walk.ts_ns.back());
    const double change = input.equity.back() - input.equity.front();
    // A step rounds cash and equity, of 1e5, a few times by half of 2^-24: 400 steps of about 0.02 at the worst.
    EXPECT_NEAR(sum_of_nets(input.activity->trades), change, 400 * 0.02);
  }
}

TEST(MetricInput, IsTheRowsOwnEquityUnderMarketRules) {
  std::mt19937_64 random(13);
  const RandomWalk walk(200, random);
  const Trace trace = random_play(stormy_market(), walk, random);
  const MetricInput input = trace_input(trace, walk.ts_ns.back());
  ASSERT_EQ(input.equity.size(), trace.rows.size() + 1);
  for (std::size_t i = 0; i < trace.rows.size(); ++i) EXPECT_EQ(input.equity[i], trace.rows[i].equity);
  EXPECT_EQ(input.equity.back(), trace.rows.back().next_equity);
}

}  // namespace
}  // namespace warptape
