// A back-test's report: equity, trades and metrics of a policy and its baselines, as files and as a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backtest/metrics/input.h"
#include "warptape/backtest.h"
#include "warptape/dataset.h"

namespace warptape {

/// One policy's chain through one segment.
struct SegmentTrace {
  std::string segment;
  Trace trace;
  std::int64_t end_ts_ns = 0;  ///< time of the bar after the last row's, which its next_price belongs to
};

/// One policy through all segments.
struct PolicyTraces {
  std::string policy;  ///< "agent", "buy-and-hold", …
  std::vector<SegmentTrace> segments;
};

struct ReportOptions {
  Split split = Split::kTest;
  std::optional<double> bars_per_year;  ///< unset: worked out from the times
  double rf_per_year = 0;
};

struct PolicyResult {
  std::string policy;
  MetricInput input;
};

/// One segment, or all of them as one portfolio.
struct ReportPart {
  std::string segment;
  std::vector<std::int64_t> ts_ns;  ///< [n + 1] of the equity
  std::optional<double> bars_per_year;
  std::vector<PolicyResult> policies;

  std::size_t bars() const { return ts_ns.size() - 1; }
};

/// What the files and the table are made of.
struct Report {
  ReportOptions options;
  int digits = 17;                     ///< significant digits of money
  std::vector<ReportPart> segments;    ///< one each
  std::optional<ReportPart> combined;  ///< several segments at the same times: their equities added up
};

/// The name of the combined part.
inline constexpr const char* kAllSegments = "all";

/// Puts the traces together. The first policy is the one that is judged, the others are its baselines; all go through
/// the same segments from the same bar, and only ruin may end one early: then its equity stays as it is to the end.
///
/// Each segment has its own capital, and its own metrics. Where there are several and their times are the same, bar for
/// bar, there is a combined part as well: the sum of the equities, an equally weighted portfolio that is not
/// rebalanced. Where times differ there is none, as no one series of returns would be true of all.
Report make_report(const std::vector<PolicyTraces>& policies, const ReportOptions& options);

/// Writes into `folder`, which is made if need be, each file whole or not at all:
///  - equity.csv: `time,equity,<baseline>…`, the equity at each bar, `equity` being the first policy's. With
///    several segments a first column `segment`, and the rows of the combined part last.
///  - trades.csv: the first policy's trades: `segment,opened,closed,side,units,entry_price,exit_price,bars,gross,cost,`
///    `net,return_pct,exit`; `closed` is empty for a position still open, which is valued at the last price.
///  - metrics.json: for each segment and policy every metric with value (null: undefined), unit, formula and what it
///    depends on, counts of bars, of trades and of their exits, and the first and last time.
/// Throws Error where the folder cannot be made or written.
void write_report(const std::filesystem::path& folder, const Report& report);

/// A table for the terminal: a column per policy, a row per metric, under a line that names split, bars, times and bars
/// per year. Of the combined part if there is one, else one table for each segment.
std::string metrics_table(const Report& report);

}  // namespace warptape
