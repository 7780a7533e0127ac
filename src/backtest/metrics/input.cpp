#include "backtest/metrics/input.h"

#include <cmath>
#include <utility>

#include "core/check.h"

namespace warptape {

namespace {

std::vector<double> returns_of(const std::vector<double>& equity) {
  std::vector<double> returns;
  returns.reserve(equity.size());
  for (std::size_t i = 0; i + 1 < equity.size(); ++i) {
    if (!(equity[i] > 0)) return {};
    returns.push_back(equity[i + 1] / equity[i] - 1);
  }
  return returns;
}

std::vector<double> equity_of(const Trace& trace) {
  if (trace.rows.empty()) return {trace.initial_capital};
  std::vector<double> equity;
  equity.reserve(trace.rows.size() + 1);
  // Stays exactly 0 where one portfolio goes on throughout, so that the series is the rows' own bits.
  double carried = 0;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    if (i > 0) carried += trace.rows[i - 1].next_equity - trace.rows[i].equity;
    equity.push_back(trace.rows[i].equity + carried);
  }
  equity.push_back(trace.rows.back().next_equity + carried);
  return equity;
}

Activity activity_of(const Trace& trace, std::int64_t end_ts_ns) {
  Activity activity;
  activity.trades = trades_of(trace, end_ts_ns);
  activity.held_notional.reserve(trace.rows.size());
  double held = 0;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const StepRow& row = trace.rows[i];
    if (i > 0 && starts_afresh(trace.rows[i - 1], row)) held = 0;
    activity.held_notional.push_back(std::abs(row.traded_position) * row.price);
    activity.traded_notional += std::abs(row.traded_position - held) * row.price;
    if (row.fill_price > 0) activity.traded_notional += std::abs(row.traded_position) * row.fill_price;
    activity.costs += row.cost;
    held = row.position;
  }
  return activity;
}

}  // namespace

double MetricInput::rf_per_bar() const {
  return bars_per_year ? std::expm1(std::log1p(rf_per_year) / *bars_per_year) : 0;
}

MetricInput equity_input(std::vector<double> equity) {
  CHECK(!equity.empty());
  MetricInput input;
  input.returns = returns_of(equity);
  input.equity = std::move(equity);
  return input;
}

MetricInput trace_input(const Trace& trace, std::int64_t end_ts_ns) {
  MetricInput input = equity_input(equity_of(trace));
  input.activity = activity_of(trace, end_ts_ns);
  return input;
}

void pad_to(MetricInput& input, std::size_t bars) {
  CHECK_LE(input.equity.size(), bars + 1);
  input.equity.resize(bars + 1, input.equity.back());
  input.returns = returns_of(input.equity);
  if (input.activity) input.activity->held_notional.resize(bars, 0);
}

MetricInput sum_of(const std::vector<const MetricInput*>& parts) {
  CHECK(!parts.empty());
  std::vector<double> equity(parts.front()->equity.size());
  Activity activity;
  activity.held_notional.resize(equity.size() - 1);
  for (const MetricInput* part : parts) {
    CHECK_EQ(part->equity.size(), equity.size());
    CHECK(part->activity.has_value());
    const Activity& a = *part->activity;
    for (std::size_t i = 0; i < equity.size(); ++i) equity[i] += part->equity[i];
    for (std::size_t i = 0; i < a.held_notional.size(); ++i) activity.held_notional[i] += a.held_notional[i];
    activity.trades.insert(activity.trades.end(), a.trades.begin(), a.trades.end());
    activity.traded_notional += a.traded_notional;
    activity.costs += a.costs;
  }
  MetricInput sum = equity_input(std::move(equity));
  sum.activity = std::move(activity);
  return sum;
}

}  // namespace warptape
