#include "market/csv.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/checksum.h"
#include "market/table.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {
namespace {

struct PriceColumns {
  int open = 0, high = 0, low = 0, close = 0;
  std::optional<int> volume;
};

PriceColumns find_price_columns(const TextTable& table) {
  const std::optional<int> open = table.find("open"), high = table.find("high"), low = table.find("low"),
                           close = table.find("close");
  PriceColumns columns;
  if (!close) fail("{}: no column 'close'; the header has: {}", table.file_name(), table.header_text());
  if (!open && !high && !low) {
    columns = {*close, *close, *close, *close, std::nullopt};
  } else if (open && high && low) {
    columns = {*open, *high, *low, *close, std::nullopt};
  } else {
    fail("{}: open, high and low come together or not at all (a file of closes only); the header has: {}",
         table.file_name(), table.header_text());
  }
  for (const char* name : {"volume", "vol", "tick volume"}) {
    if (!columns.volume) columns.volume = table.find(name);
  }
  return columns;
}

double read_price(const TextTable& table, int column) {
  const double price = table.number(column);
  if (!(price > 0)) {
    fail("{}: {} is not a price above 0; correct or remove the row", table.where(column), shown(table.field(column)));
  }
  return price;
}

void check_within_range(const TextTable& table, int column, double price, double low, double high) {
  if (price >= low * (1 - kPriceTolerance) && price <= high * (1 + kPriceTolerance)) return;
  fail("{}: {} lies outside low {} and high {}; correct or remove the row", table.where(column),
       shown(table.field(column)), low, high);
}

void read_row(const TextTable& table, const PriceColumns& columns, Bars& bars) {
  const double close = read_price(table, columns.close);
  const bool close_only = columns.open == columns.close;
  const double open = close_only ? close : read_price(table, columns.open);
  const double high = close_only ? close : read_price(table, columns.high);
  const double low = close_only ? close : read_price(table, columns.low);
  if (high < low) {
    fail("{}: high {} is below low {}; correct or remove the row", table.where(columns.high), high, low);
  }
  check_within_range(table, columns.open, open, low, high);
  check_within_range(table, columns.close, close, low, high);
  bars.open.push_back(open);
  bars.high.push_back(high);
  bars.low.push_back(low);
  bars.close.push_back(close);
  if (!columns.volume) return;
  const double volume = table.number(*columns.volume);
  if (volume < 0) {
    fail("{}: {} is negative; correct or remove the row", table.where(*columns.volume),
         shown(table.field(*columns.volume)));
  }
  bars.volume.push_back(volume);
}

template <typename T>
void take_rows(std::vector<T>& values, const std::vector<std::size_t>& rows) {
  if (values.empty()) return;
  std::vector<T> taken;
  taken.reserve(rows.size());
  for (const std::size_t row : rows) taken.push_back(values[row]);
  values = std::move(taken);
}

void take_rows(Bars& bars, const std::vector<std::size_t>& rows) {
  for (std::vector<double>* values : {&bars.open, &bars.high, &bars.low, &bars.close, &bars.volume}) {
    take_rows(*values, rows);
  }
  take_rows(bars.ts_ns, rows);
  take_rows(bars.row, rows);
}

[[noreturn]] void fail_order(const std::string& file, const Bars& bars, std::size_t row) {
  const bool newest_first = bars.ts_ns.back() < bars.ts_ns.front();
  fail("{}, line {}: time {} is before {} of line {}{}; pass --sort to put the rows in order of time", file,
       bars.row[row], format_time(bars.ts_ns[row]), format_time(bars.ts_ns[row - 1]), bars.row[row - 1],
       newest_first ? " (the file looks newest first)" : "");
}

[[noreturn]] void fail_duplicate(const std::string& file, const Bars& bars, std::size_t first, std::size_t second) {
  fail("{}, lines {} and {}: both have the time {}; pass --on-duplicate keep-last to keep the last of such rows", file,
       bars.row[first], bars.row[second], format_time(bars.ts_ns[second]));
}

/// Brings the rows into strictly rising time, as far as the options allow.
ReadReport order_rows(const std::string& file, const DataConfig& options, Bars& bars) {
  ReadReport report;
  const std::size_t count = bars.ts_ns.size();
  for (std::size_t row = 1; row < count; ++row) {
    if (bars.ts_ns[row] >= bars.ts_ns[row - 1]) continue;
    if (!options.sort) fail_order(file, bars, row);
    ++report.sorted_rows;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (report.sorted_rows > 0) {
    // Stable: rows of one time stay in the file's order, so that "last" keeps its meaning.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bars.ts_ns[a] < bars.ts_ns[b]; });
  }
  std::vector<std::size_t> kept;
  kept.reserve(count);
  for (const std::size_t row : order) {
    if (!kept.empty() && bars.ts_ns[kept.back()] == bars.ts_ns[row]) {
      if (options.on_duplicate != "keep-last") fail_duplicate(file, bars, kept.back(), row);
      kept.back() = row;
      ++report.dropped_duplicates;
    } else {
      kept.push_back(row);
    }
  }
  if (report.sorted_rows > 0 || report.dropped_duplicates > 0) take_rows(bars, kept);
  return report;
}

}  // namespace

Bars read_bars(const std::filesystem::path& file, const DataConfig& options, ReadReport* report) {
  TextTable table(file);
  const PriceColumns columns = find_price_columns(table);
  Bars bars;
  bars.name = file.filename().string();
  std::optional<TimeColumns> time;
  while (table.next()) {
    if (!time) time.emplace(table);
    bars.ts_ns.push_back(time->read(table));
    bars.row.push_back(table.line());
    read_row(table, columns, bars);
  }
  if (bars.ts_ns.empty()) fail("{}: has a header but no rows", table.file_name());
  const ReadReport changed = order_rows(table.file_name(), options, bars);
  if (report != nullptr) *report = changed;
  return bars;
}

std::string hash_bars(const Bars& bars) {
  static_assert(std::endian::native == std::endian::little, "the hash is defined over little-endian bytes");
  std::vector<std::byte> bytes;
  const auto append = [&](const auto& values) {
    const auto view = std::as_bytes(std::span(values));
    bytes.insert(bytes.end(), view.begin(), view.end());
  };
  // The counts first: without them, six columns of five rows could be five columns of six.
  append(std::array{bars.size(), static_cast<std::int64_t>(bars.volume.size())});
  append(bars.ts_ns);
  for (const std::vector<double>* values : {&bars.open, &bars.high, &bars.low, &bars.close, &bars.volume}) {
    append(*values);
  }
  return xxh3_128_hex(bytes);
}

}  // namespace warptape
