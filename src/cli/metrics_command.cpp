#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backtest/metrics/bars_per_year.h"
#include "backtest/metrics/metrics.h"
#include "backtest/metrics/metrics_json.h"
#include "cli/commands.h"
#include "market/table.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {

namespace {

struct MetricsOptions {
  std::filesystem::path equity;
  std::optional<double> bars_per_year;
  double rf_per_year = 0;
  bool json = false;
};

struct EquityFile {
  std::vector<double> equity;
  std::vector<std::int64_t> ts_ns;  ///< empty: no times, or none needed
};

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool has_time(const TextTable& table) {
  for (int i = 0; i < static_cast<int>(table.header().size()); ++i) {
    if (TimeColumns::is_time_name(table, i)) return true;
  }
  return false;
}

/// The column `equity`, else the only one besides times that holds numbers; the table stands on its first row.
int equity_column(const TextTable& table) {
  if (const std::optional<int> named = table.find("equity")) return *named;
  std::vector<int> numeric;
  for (int i = 0; i < static_cast<int>(table.header().size()); ++i) {
    if (!TimeColumns::is_time_name(table, i) && is_number(table.field(i))) numeric.push_back(i);
  }
  if (numeric.size() != 1) {
    fail("{}: no column 'equity', and {} columns with numbers to take for it; the header has: {}", table.file_name(),
         numeric.size(), table.header_text());
  }
  if (is_number(table.header()[static_cast<std::size_t>(numeric.front())])) {
    fail("{}, line 1: a number, {}, where the header should be; put a line 'equity' above the values",
         table.file_name(), shown(table.header()[static_cast<std::size_t>(numeric.front())]));
  }
  return numeric.front();
}

/// A file of several segments, as a back-test writes it, is several series: they are not one after another.
void check_one_segment(const TextTable& table, const std::optional<int>& column, std::string& segment) {
  if (!column) return;
  const std::string here(table.field(*column));
  if (!segment.empty() && here != segment) {
    fail("{}: {} follows {}; metrics are of one series, so keep the rows of one segment", table.where(*column),
         shown(here), shown(segment));
  }
  segment = here;
}

EquityFile read_equity(const std::filesystem::path& file, bool wants_times) {
  TextTable table(file);
  const std::optional<int> segment_column = table.find("segment");
  std::optional<int> column;
  std::optional<TimeColumns> time;
  std::string segment;
  EquityFile out;
  while (table.next()) {
    if (!column) {
      column = equity_column(table);
      if (wants_times && has_time(table)) time.emplace(table);
    }
    check_one_segment(table, segment_column, segment);
    const double value = table.number(*column);
    if (out.equity.empty() && !(value > 0)) {
      fail("{}: the first equity is {}; a series starts above 0", table.where(*column), shown(table.field(*column)));
    }
    out.equity.push_back(value);
    if (!time) continue;
    const std::int64_t ts_ns = time->read(table);
    if (!out.ts_ns.empty() && ts_ns <= out.ts_ns.back()) {
      fail("{}, line {}: time {} does not come after {} of the row before; put the rows in order of time",
           table.file_name(), table.line(), format_time(ts_ns), format_time(out.ts_ns.back()));
    }
    out.ts_ns.push_back(ts_ns);
  }
  if (out.equity.size() < 2) {
    fail("{}: {} rows of equity; at least 2 are needed, the first being the starting equity", table.file_name(),
         out.equity.size());
  }
  return out;
}

void check_options(const MetricsOptions& options) {
  if (options.bars_per_year && !(std::isfinite(*options.bars_per_year) && *options.bars_per_year > 0)) {
    fail("--bars-per-year {}: is not a number above 0 (252 for trading days, 8766 for hours around the clock)",
         *options.bars_per_year);
  }
  if (!(std::isfinite(options.rf_per_year) && options.rf_per_year > -1)) {
    fail("--rf {}: is not a yearly return as a fraction above -1 (0.02 is 2 % a year)", options.rf_per_year);
  }
}

void print_json(const MetricsOptions& options, const MetricInput& input, const std::string& source) {
  const nlohmann::ordered_json json = {
      {"file", options.equity.string()},
      {"bars", input.equity.size() - 1},
      {"bars_per_year", input.bars_per_year ? nlohmann::ordered_json(*input.bars_per_year) : nlohmann::ordered_json()},
      {"bars_per_year_from", source},
      {"ddof", kDdof},
      {"rf_per_year", input.rf_per_year},
      {"metrics", metrics_json(input)}};
  fmt::print("{}\n", json.dump(2));
}

void print_text(const MetricsOptions& options, const MetricInput& input, const std::string& source) {
  const std::string per_year = input.bars_per_year ? fmt::format("{:.10g}", *input.bars_per_year) : "unknown";
  fmt::print("{}: {} bars, equity {:.10g} to {:.10g}\n", options.equity.string(), input.equity.size() - 1,
             input.equity.front(), input.equity.back());
  fmt::print("bars per year: {} ({})\n\n", per_year, source);
  for (const Metric& m : all_metrics()) {
    if (m.needs_activity) continue;
    const std::string parameters = parameters_text(m, input);
    fmt::print("{:<17} {:>16}  {}{}\n", label_of(m), value_text(m, value_of(m, input)), m.formula,
               parameters.empty() ? "" : fmt::format("  ({})", parameters));
  }
}

void run(const MetricsOptions& options) {
  check_options(options);
  EquityFile file = read_equity(options.equity, !options.bars_per_year);
  MetricInput input = equity_input(std::move(file.equity));
  input.bars_per_year = options.bars_per_year ? options.bars_per_year : bars_per_year(file.ts_ns);
  input.rf_per_year = options.rf_per_year;
  const std::string source = bars_per_year_source(input.bars_per_year, options.bars_per_year.has_value());
  options.json ? print_json(options, input, source) : print_text(options, input, source);
}

}  // namespace

void add_metrics_command(CLI::App& app) {
  auto options = std::make_shared<MetricsOptions>();
  CLI::App* command =
      app.add_subcommand("metrics", "The metrics of an equity series, each with its formula and what it depends on.");
  command
      ->add_option("--equity", options->equity,
                   "CSV with a header: column equity (or one column of numbers), "
                   "optionally a time")
      ->required();
  command->add_option("--bars-per-year", options->bars_per_year, "bars in a year; default: worked out from the times");
  command->add_option("--rf", options->rf_per_year, "riskless return a year, as a fraction")->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of text; what is undefined is null");
  command->footer(
      "In formulas E is the equity, r its returns, n the number of bars, N the bars per year, rf the riskless return\n"
      "of one bar, (1 + R)^(1/N) - 1. What is undefined (a deviation or drawdown of 0, fewer than 2 returns) is n/a.\n"
      "Example:\n"
      "  warptape metrics --equity runs/first/test/equity.csv --bars-per-year 8766");
  command->callback([options] { run(*options); });
}

}  // namespace warptape
