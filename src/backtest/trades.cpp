#include "backtest/trades.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warptape {

namespace {

/// The trade in hand, from flat to flat.
class OpenTrade {
 public:
  OpenTrade(std::string name, std::int64_t opened_ns, double order) {
    trade_.name = std::move(name);
    trade_.opened_ns = opened_ns;
    trade_.side = order < 0 ? -1 : 1;
  }

  /// Moves the position to `position` units at `price`.
  void move_to(double position, double price) {
    const double grown = trade_.side * (position - position_);
    (grown > 0 ? opened_ : closed_).add(std::abs(grown), price);
    position_ = position;
    trade_.units = std::max(trade_.units, std::abs(position));
  }

  void pay(double cost) { trade_.cost += cost; }
  void hold() { ++trade_.bars; }

  /// Closes what is left at `price`.
  Trade close(double price, std::optional<std::int64_t> closed_ns, Exit exit) {
    move_to(0, price);
    trade_.closed_ns = closed_ns;
    trade_.exit = exit;
    trade_.entry_price = opened_.average(price);
    trade_.exit_price = closed_.average(price);
    trade_.gross = trade_.side * (closed_.notional - opened_.notional);
    trade_.net = trade_.gross - trade_.cost;
    if (opened_.notional > 0) trade_.return_pct = 100 * trade_.net / opened_.notional;
    return trade_;
  }

 private:
  struct Side {
    double units = 0, notional = 0;
    void add(double more_units, double price) {
      units += more_units;
      notional += more_units * price;
    }
    double average(double if_none) const { return units > 0 ? notional / units : if_none; }
  };

  Trade trade_;
  Side opened_, closed_;
  double position_ = 0;
};

/// The part of a reversal's cost that closing the old position took.
double closing_share(const StepRow& row, double held) {
  const double closed = std::abs(held) * row.price;
  const double opened = std::abs(row.traded_position) * row.price;
  const double filled = std::abs(row.traded_position) * row.fill_price;
  return closed / (closed + opened + filled);
}

Exit fill_exit(const StepRow& row) {
  return row.barrier_label < 0 ? Exit::kStop : Exit::kProfit;
}

/// Why a position that no order closed ends with this row.
Exit forced_exit(const StepRow& row) {
  if (!row.terminal) return Exit::kEndOfData;
  if (row.barrier_label != 0) return fill_exit(row);
  return row.next_equity > 0 ? Exit::kEndOfData : Exit::kRuin;
}

class TradeList {
 public:
  explicit TradeList(const std::string& name) : name_(name) {}

  /// The order at the row's price: from `held` units to the row's traded position.
  void order(const StepRow& row, double held) {
    const double wanted = row.traded_position;
    double cost = row.cost;
    if (open_ && held * wanted < 0) {
      const double closing = cost * closing_share(row, held);
      open_->pay(closing);
      cost -= closing;
      finish(row.price, row.ts_ns, Exit::kReversal);
    }
    if (!open_ && (wanted != 0 || cost != 0)) open_.emplace(name_, row.ts_ns, wanted);
    if (!open_) return;
    open_->pay(cost);
    if (wanted == 0) return finish(row.price, row.ts_ns, Exit::kSignal);
    open_->move_to(wanted, row.price);
    open_->hold();
  }

  void finish(double price, std::optional<std::int64_t> closed_ns, Exit exit) {
    if (!open_) return;
    trades_.push_back(open_->close(price, closed_ns, exit));
    open_.reset();
  }

  std::vector<Trade> take() { return std::move(trades_); }

 private:
  std::string name_;
  std::optional<OpenTrade> open_;
  std::vector<Trade> trades_;
};

}  // namespace

const char* exit_name(Exit exit) {
  switch (exit) {
    case Exit::kSignal:
      return "signal";
    case Exit::kReversal:
      return "reversal";
    case Exit::kStop:
      return "stop";
    case Exit::kProfit:
      return "profit";
    case Exit::kEndOfData:
      return "end of data";
    case Exit::kRuin:
      return "ruin";
  }
  return "unknown";
}

bool starts_afresh(const StepRow& row, const StepRow& next) {
  return (row.terminal || row.truncated) && next.equity != row.next_equity;
}

std::vector<Trade> trades_of(const Trace& trace, std::int64_t end_ts_ns) {
  TradeList list(trace.name);
  double held = 0;
  for (std::size_t i = 0; i < trace.rows.size(); ++i) {
    const StepRow& row = trace.rows[i];
    const bool last = i + 1 == trace.rows.size();
    const std::int64_t next_ts_ns = last ? end_ts_ns : trace.rows[i + 1].ts_ns;
    list.order(row, held);
    held = row.position;
    if (row.fill_price > 0) list.finish(row.fill_price, next_ts_ns, fill_exit(row));
    if (last || starts_afresh(row, trace.rows[i + 1])) {
      const Exit exit = forced_exit(row);
      const bool still_open = last && exit == Exit::kEndOfData;
      list.finish(row.next_price, still_open ? std::nullopt : std::optional(next_ts_ns), exit);
      held = 0;
    }
  }
  return list.take();
}

}  // namespace warptape
