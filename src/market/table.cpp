#include "market/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "io/input_file.h"
#include "market/time.h"
#include "warptape/error.h"

namespace warptape {
namespace {

constexpr std::string_view kBlank = " \t\r\n\v\f";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::array<std::string_view, 8> kTimeNames = {"unix",     "timestamp", "ts",   "open time",
                                                        "gmt time", "datetime",  "time", "date"};

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The form in which names are compared: lower case (ASCII), blanks for underscores.
std::string key_of(std::string_view name) {
  std::string key(name);
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = ' ';
  }
  return key;
}

/// Of tab, semicolon and comma the one that a header has most of, outside quotes; a comma when it has none.
char delimiter_of(std::string_view header) {
  char best = ',';
  std::int64_t most = 0;
  for (const char candidate : {'\t', ';', ','}) {
    bool quoted = false;
    std::int64_t count = 0;
    for (const char c : header) {
      if (c == '"') quoted = !quoted;
      if (c == candidate && !quoted) ++count;
    }
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::string shown(std::string_view value) {
  constexpr std::size_t kLongest = 40;
  if (value.size() <= kLongest) return fmt::format("'{}'", value);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return fmt::format("'{}...'", value.substr(0, end));
}

TextTable::TextTable(const std::filesystem::path& file) : file_name_(file.string()), text_(read_file(file)) {
  if (text_.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
  if (trim(std::string_view(text_).substr(position_)).empty()) {
    fail("{}: is empty; a header line and rows are needed", file_name_);
  }
  const std::string_view line = take_line();
  if (line.find('\0') != std::string_view::npos) {
    fail("{}: is not UTF-8 text (compressed, or UTF-16?); convert it first", file_name_);
  }
  delimiter_ = delimiter_of(line);
  split(line, fields_);
  header_.assign(fields_.begin(), fields_.end());
  for (const std::string& name : header_) keys_.push_back(key_of(name));
}

std::string TextTable::header_text() const {
  std::string text;
  for (const std::string& name : header_) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::optional<int> TextTable::find(std::string_view name) const {
  const auto first = std::find(keys_.begin(), keys_.end(), name);
  if (first == keys_.end()) return std::nullopt;
  if (std::find(first + 1, keys_.end(), name) != keys_.end()) {
    fail("{}, line 1: two columns are named '{}'; rename or remove one", file_name_, name);
  }
  return static_cast<int>(first - keys_.begin());
}

std::string_view TextTable::take_line() {
  const std::size_t end = std::min(text_.find('\n', position_), text_.size());
  const std::string_view line = std::string_view(text_).substr(position_, end - position_);
  position_ = std::min(end + 1, text_.size());
  ++line_;
  return line;
}

void TextTable::split(std::string_view line, std::vector<std::string_view>& fields) const {
  fields.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (;;) {
    // A tab is a blank too, so only blanks that are not the delimiter are skipped before a quote.
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    std::size_t end = 0;
    if (start < line.size() && line[start] == '"') {
      std::size_t close = line.find('"', start + 1);
      while (close != std::string_view::npos && close + 1 < line.size() && line[close + 1] == '"') {
        close = line.find('"', close + 2);  // a doubled quote is a quote inside the field
      }
      if (close == std::string_view::npos) {
        fail("{}, line {}: a double quote is not closed: {}", file_name_, line_, shown(line.substr(start)));
      }
      end = std::min(line.find(delimiter_, close + 1), line.size());
      if (!trim(line.substr(close + 1, end - close - 1)).empty()) {
        fail("{}, line {}: text behind a closing quote: {}", file_name_, line_, shown(line.substr(start, end - start)));
      }
      fields.push_back(trim(line.substr(start + 1, close - start - 1)));
    } else {
      end = std::min(line.find(delimiter_), line.size());
      fields.push_back(trim(line.substr(0, end)));
    }
    if (end == line.size()) return;
    line.remove_prefix(end + 1);
  }
}

bool TextTable::next() {
  if (position_ >= text_.size()) return false;
  const std::string_view line = take_line();
  if (trim(line).empty()) {
    if (trim(std::string_view(text_).substr(position_)).empty()) return false;
    fail("{}, line {}: is empty, with rows behind it; remove it", file_name_, line_);
  }
  split(line, fields_);
  if (width_ == 0) width_ = fields_.size();
  if (fields_.size() > header_.size()) {
    fail("{}, line {}: has {} fields, but the header names {} columns ({})", file_name_, line_, fields_.size(),
         header_.size(), header_text());
  }
  if (fields_.size() != width_) {
    fail("{}, line {}: has {} fields, but the rows before it have {}", file_name_, line_, fields_.size(), width_);
  }
  return true;
}

std::string TextTable::where(int column) const {
  return fmt::format("{}, line {}, column '{}'", file_name_, line_, header_[static_cast<std::size_t>(column)]);
}

std::string_view TextTable::field(int column) const {
  const auto index = static_cast<std::size_t>(column);
  if (index >= fields_.size()) {
    fail("{}: is missing: the row has {} fields, and this is column {}", where(column), fields_.size(), column + 1);
  }
  return fields_[index];
}

double TextTable::number(int column) const {
  const std::string_view text = field(column);
  if (text.empty()) fail("{}: is empty; a number is needed", where(column));
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) fail("{}: {} is out of range", where(column), shown(text));
  if (error != std::errc() || stop != end) {
    fail("{}: {} is not a number (a decimal point, no thousands marks)", where(column), shown(text));
  }
  if (!std::isfinite(value)) fail("{}: {} is not a finite number", where(column), shown(text));
  return value;
}

TimeColumns::TimeColumns(const TextTable& table) {
  for (const std::string_view name : kTimeNames) {
    const std::optional<int> column = table.find(name);
    if (!column) continue;
    column_ = *column;
    if (name == "time" && is_clock_time(table.field(column_))) {
      date_column_ = table.find("date");
      if (!date_column_) {
        fail("{}: {} is a clock time, and there is no column 'date' beside it", table.where(column_),
             shown(table.field(column_)));
      }
    }
    return;
  }
  fail(
      "{}: no column with the time; one of unix, timestamp, ts, open time, gmt time, datetime, time, date is "
      "needed, but the header has: {}",
      table.file_name(), table.header_text());
}

std::int64_t TimeColumns::read(const TextTable& table) const {
  const std::string_view text = table.field(column_);
  if (!date_column_) {
    const ParsedTime time = parse_time(text);
    if (!time.ok()) fail("{}: {} {}", table.where(column_), shown(text), time.problem);
    return time.ts_ns;
  }
  if (!is_clock_time(text)) fail("{}: {} is not a clock time", table.where(column_), shown(text));
  const std::string_view date = table.field(*date_column_);
  const std::string joined = fmt::format("{}T{}", date, text);
  const ParsedTime time = parse_time(joined);
  if (!time.ok()) fail("{} and 'time': {} {}", table.where(*date_column_), shown(joined), time.problem);
  return time.ts_ns;
}

bool TimeColumns::is_time_name(const TextTable& table, int column) {
  const std::string key = key_of(table.header()[static_cast<std::size_t>(column)]);
  return std::find(kTimeNames.begin(), kTimeNames.end(), key) != kTimeNames.end();
}

}  // namespace warptape
