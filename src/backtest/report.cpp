#include "backtest/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "backtest/metrics/bars_per_year.h"
#include "backtest/metrics/metrics.h"
#include "backtest/metrics/metrics_json.h"
#include "core/check.h"
#include "io/atomic_file.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {

namespace {

// ---- putting together -------------------------------------------------------------------------------------------

std::vector<std::int64_t> times_of(const SegmentTrace& segment) {
  std::vector<std::int64_t> ts_ns;
  ts_ns.reserve(segment.trace.rows.size() + 1);
  for (const StepRow& row : segment.trace.rows) ts_ns.push_back(row.ts_ns);
  ts_ns.push_back(segment.end_ts_ns);
  return ts_ns;
}

/// The times of the policy that lasted longest; the others ran through the first of them.
std::vector<std::int64_t> times_of(const std::vector<PolicyTraces>& policies, std::size_t segment) {
  std::vector<std::int64_t> longest;
  for (const PolicyTraces& p : policies) {
    std::vector<std::int64_t> ts_ns = times_of(p.segments[segment]);
    CHECK(std::equal(ts_ns.begin(), ts_ns.begin() + static_cast<std::ptrdiff_t>(std::min(ts_ns.size(), longest.size())),
                     longest.begin()));
    if (ts_ns.size() > longest.size()) longest = std::move(ts_ns);
  }
  return longest;
}

void set_options(ReportPart& part, const ReportOptions& options) {
  part.bars_per_year = options.bars_per_year ? options.bars_per_year : bars_per_year(part.ts_ns);
  for (PolicyResult& p : part.policies) {
    p.input.bars_per_year = part.bars_per_year;
    p.input.rf_per_year = options.rf_per_year;
  }
}

ReportPart segment_part(const std::vector<PolicyTraces>& policies, std::size_t segment, const ReportOptions& options) {
  ReportPart part;
  part.segment = policies.front().segments[segment].segment;
  part.ts_ns = times_of(policies, segment);
  for (const PolicyTraces& p : policies) {
    const SegmentTrace& s = p.segments[segment];
    CHECK_EQ(s.segment, part.segment);
    part.policies.push_back({p.policy, trace_input(s.trace, s.end_ts_ns)});
    pad_to(part.policies.back().input, part.bars());
  }
  set_options(part, options);
  return part;
}

ReportPart combined_part(const std::vector<ReportPart>& segments, const ReportOptions& options) {
  ReportPart part;
  part.segment = kAllSegments;
  part.ts_ns = segments.front().ts_ns;
  for (std::size_t i = 0; i < segments.front().policies.size(); ++i) {
    std::vector<const MetricInput*> inputs;
    inputs.reserve(segments.size());
    for (const ReportPart& s : segments) inputs.push_back(&s.policies[i].input);
    part.policies.push_back({segments.front().policies[i].policy, sum_of(inputs)});
  }
  set_options(part, options);
  return part;
}

// ---- CSV --------------------------------------------------------------------------------------------------------

/// A text as one CSV field: in quotes where it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void append_equity(fmt::memory_buffer& out, const ReportPart& part, bool with_segment, int digits) {
  const std::string prefix = with_segment ? csv_field(part.segment) + ',' : "";
  for (std::size_t i = 0; i < part.ts_ns.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}", prefix, format_time(part.ts_ns[i]));
    for (const PolicyResult& p : part.policies) {
      fmt::format_to(std::back_inserter(out), ",{:.{}g}", p.input.equity[i], digits);
    }
    out.push_back('\n');
  }
}

std::string equity_csv(const Report& report) {
  const bool with_segment = report.segments.size() > 1;
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{}time,equity", with_segment ? "segment," : "");
  const std::vector<PolicyResult>& policies = report.segments.front().policies;
  for (std::size_t i = 1; i < policies.size(); ++i) {
    fmt::format_to(std::back_inserter(out), ",{}", csv_field(policies[i].policy));
  }
  out.push_back('\n');
  for (const ReportPart& part : report.segments) append_equity(out, part, with_segment, report.digits);
  if (report.combined) append_equity(out, *report.combined, with_segment, report.digits);
  return fmt::to_string(out);
}

std::string trades_csv(const Report& report) {
  fmt::memory_buffer out;
  out.append(std::string_view(
      "segment,opened,closed,side,units,entry_price,exit_price,bars,gross,cost,net,return_pct,exit\n"));
  const auto number = [&](double x) { fmt::format_to(std::back_inserter(out), ",{:.{}g}", x, report.digits); };
  for (const ReportPart& part : report.segments) {
    for (const Trade& t : part.policies.front().input.activity->trades) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{}", csv_field(part.segment), format_time(t.opened_ns),
                     t.closed_ns ? format_time(*t.closed_ns) : "", t.side > 0 ? "long" : "short");
      for (const double x : {t.units, t.entry_price, t.exit_price}) number(x);
      fmt::format_to(std::back_inserter(out), ",{}", t.bars);
      for (const double x : {t.gross, t.cost, t.net}) number(x);
      if (t.return_pct) {
        number(*t.return_pct);
      } else {
        out.push_back(',');
      }
      fmt::format_to(std::back_inserter(out), ",{}\n", exit_name(t.exit));
    }
  }
  return fmt::to_string(out);
}

// ---- JSON -------------------------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;  // in the order of the table, not of the alphabet

std::array<std::int64_t, kExitKinds> exits_of(const MetricInput& input) {
  std::array<std::int64_t, kExitKinds> counts{};
  for (const Trade& t : input.activity->trades) ++counts[static_cast<std::size_t>(t.exit)];
  return counts;
}

Json policy_json(const PolicyResult& policy) {
  const MetricInput& input = policy.input;
  Json exits = Json::object();
  const auto counts = exits_of(input);
  for (int i = 0; i < kExitKinds; ++i) {
    std::string name = exit_name(static_cast<Exit>(i));
    std::replace(name.begin(), name.end(), ' ', '_');
    exits[name] = counts[static_cast<std::size_t>(i)];
  }
  return {{"bars", input.equity.size() - 1},
          {"first_equity", input.equity.front()},
          {"last_equity", input.equity.back()},
          {"trades", input.activity->trades.size()},
          {"exits", exits},
          {"metrics", metrics_json(input)}};
}

Json part_json(const ReportPart& part, bool given) {
  Json policies = Json::object();
  for (const PolicyResult& p : part.policies) policies[p.policy] = policy_json(p);
  return {{"segment", part.segment},
          {"bars", part.bars()},
          {"first", format_time(part.ts_ns.front())},
          {"last", format_time(part.ts_ns.back())},
          {"bars_per_year", part.bars_per_year ? Json(*part.bars_per_year) : Json()},
          {"bars_per_year_from", bars_per_year_source(part.bars_per_year, given)},
          {"policies", policies}};
}

std::string metrics_file(const Report& report) {
  const bool given = report.options.bars_per_year.has_value();
  Json segments = Json::array();
  for (const ReportPart& part : report.segments) segments.push_back(part_json(part, given));
  const Json json = {{"split", split_name(report.options.split)},
                     {"rf_per_year", report.options.rf_per_year},
                     {"ddof", kDdof},
                     {"segments", segments},
                     {"combined", report.combined ? part_json(*report.combined, given) : Json()}};
  return json.dump(2) + "\n";
}

// ---- table ------------------------------------------------------------------------------------------------------

using Cells = std::vector<std::string>;

Cells count_row(const char* label, const ReportPart& part, std::int64_t (*count)(const MetricInput&)) {
  Cells row = {label};
  for (const PolicyResult& p : part.policies) row.push_back(fmt::format("{}", count(p.input)));
  return row;
}

std::vector<Cells> table_rows(const ReportPart& part) {
  std::vector<Cells> rows = {{""}};
  for (const PolicyResult& p : part.policies) rows[0].push_back(p.policy);
  for (const Metric& m : all_metrics()) {
    Cells row = {label_of(m)};
    for (const PolicyResult& p : part.policies) row.push_back(value_text(m, value_of(m, p.input)));
    rows.push_back(row);
  }
  rows.push_back(count_row(
      "trades", part, [](const MetricInput& in) { return static_cast<std::int64_t>(in.activity->trades.size()); }));
  rows.push_back(count_row("exits by stop", part,
                           [](const MetricInput& in) { return exits_of(in)[static_cast<std::size_t>(Exit::kStop)]; }));
  rows.push_back(count_row("exits by profit", part, [](const MetricInput& in) {
    return exits_of(in)[static_cast<std::size_t>(Exit::kProfit)];
  }));
  return rows;
}

/// The first column to the left, the others to the right, two blanks between them.
std::string aligned(const std::vector<Cells>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    text += fmt::format("{:<{}}", row[0], width[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], width[i]);
    text += '\n';
  }
  return text;
}

std::string part_table(const ReportPart& part, const Report& report, const std::string& name) {
  const ReportOptions& o = report.options;
  const std::string per_year = part.bars_per_year ? fmt::format("{:.6g} bars per year", *part.bars_per_year)
                                                  : std::string("bars per year unknown");
  return fmt::format("{} split, {}: {} bars, {} to {}, {} ({})\n\n", split_name(o.split), name, part.bars(),
                     format_time(part.ts_ns.front()), format_time(part.ts_ns.back()), per_year,
                     bars_per_year_source(part.bars_per_year, o.bars_per_year.has_value())) +
         aligned(table_rows(part));
}

}  // namespace

Report make_report(const std::vector<PolicyTraces>& policies, const ReportOptions& options) {
  CHECK(!policies.empty() && !policies.front().segments.empty());
  Report report;
  report.options = options;
  report.digits = policies.front().segments.front().trace.digits;
  for (const PolicyTraces& p : policies) CHECK_EQ(p.segments.size(), policies.front().segments.size());
  for (std::size_t i = 0; i < policies.front().segments.size(); ++i) {
    report.segments.push_back(segment_part(policies, i, options));
  }
  const auto same_times = [&](const ReportPart& part) { return part.ts_ns == report.segments.front().ts_ns; };
  if (report.segments.size() > 1 && std::all_of(report.segments.begin(), report.segments.end(), same_times)) {
    report.combined = combined_part(report.segments, options);
  }
  return report;
}

void write_report(const std::filesystem::path& folder, const Report& report) {
  // All texts first: nothing is written if one of them cannot be made.
  const std::string equity = equity_csv(report), trades = trades_csv(report), metrics = metrics_file(report);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: the folder cannot be made: {}", folder.string(), error.message());
  write_file_atomically(folder / "equity.csv", equity);
  write_file_atomically(folder / "trades.csv", trades);
  write_file_atomically(folder / "metrics.json", metrics);
}

std::string metrics_table(const Report& report) {
  if (report.combined) {
    return part_table(*report.combined, report, fmt::format("{} segments added up", report.segments.size()));
  }
  std::string text;
  for (const ReportPart& part : report.segments) {
    if (!text.empty()) text += '\n';
    text += part_table(part, report, part.segment);
  }
  return text;
}

}  // namespace warptape
