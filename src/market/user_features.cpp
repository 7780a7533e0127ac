#include "market/user_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "market/table.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {
namespace {

/// Every row of the file.
struct FeatureFile {
  std::vector<std::string> names;
  std::vector<float> values;  // [rows, names]
  std::unordered_map<std::int64_t, std::size_t> row_of_time;
};

std::vector<int> find_feature_columns(const TextTable& table) {
  std::vector<int> columns;
  std::vector<std::string> names;
  for (int column = 0; column < static_cast<int>(table.header().size()); ++column) {
    const std::string& name = table.header()[static_cast<std::size_t>(column)];
    if (name.empty() || TimeColumns::is_time_name(table, column)) continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      fail("{}, line 1: two columns are named '{}'; rename or remove one", table.file_name(), name);
    }
    names.push_back(name);
    columns.push_back(column);
  }
  if (columns.empty()) {
    fail("{}: no feature column beside the time; the header has: {}", table.file_name(), table.header_text());
  }
  return columns;
}

float read_value(const TextTable& table, int column) {
  const double value = table.number(column);
  if (std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    fail("{}: {} is too large for float32; scale the column down", table.where(column), shown(table.field(column)));
  }
  return static_cast<float>(value);
}

FeatureFile read_feature_file(const std::filesystem::path& path) {
  TextTable table(path);
  const std::vector<int> columns = find_feature_columns(table);
  FeatureFile file;
  for (const int column : columns) file.names.push_back(table.header()[static_cast<std::size_t>(column)]);
  std::optional<TimeColumns> time;
  std::vector<std::int64_t> lines;
  while (table.next()) {
    if (!time) time.emplace(table);
    const std::int64_t ts_ns = time->read(table);
    const auto [known, inserted] = file.row_of_time.emplace(ts_ns, lines.size());
    if (!inserted) {
      fail("{}, lines {} and {}: both have the time {}; remove one", table.file_name(), lines[known->second],
           table.line(), format_time(ts_ns));
    }
    lines.push_back(table.line());
    for (const int column : columns) file.values.push_back(read_value(table, column));
  }
  return file;
}

[[noreturn]] void fail_unmatched(const std::string& file, const Bars& bars, const std::vector<std::size_t>& missing) {
  constexpr std::size_t kNamed = 3;
  std::string times;
  for (std::size_t i = 0; i < std::min(kNamed, missing.size()); ++i) {
    times += (i == 0 ? "" : ", ") + format_time(bars.ts_ns[missing[i]]);
  }
  if (missing.size() > kNamed) times += ", ...";
  fail("{}: no row for {} of the {} bars of {}: {}; features are needed at the time of every bar", file, missing.size(),
       bars.size(), bars.name, times);
}

}  // namespace

FeatureMatrix join_features(const std::filesystem::path& file, const Bars& bars) {
  FeatureFile rows = read_feature_file(file);
  FeatureMatrix matrix;
  matrix.names = std::move(rows.names);
  matrix.columns = static_cast<int>(matrix.names.size());
  const std::size_t width = matrix.names.size();
  matrix.values.reserve(width * bars.ts_ns.size());
  std::vector<std::size_t> missing;
  for (std::size_t bar = 0; bar < bars.ts_ns.size(); ++bar) {
    const auto found = rows.row_of_time.find(bars.ts_ns[bar]);
    if (found == rows.row_of_time.end()) {
      missing.push_back(bar);
      continue;
    }
    const auto first = rows.values.begin() + static_cast<std::ptrdiff_t>(found->second * width);
    matrix.values.insert(matrix.values.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  if (!missing.empty()) fail_unmatched(file.string(), bars, missing);
  return matrix;
}

}  // namespace warptape
