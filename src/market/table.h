// A text file of delimited columns under a header line, read row by row; shared by the readers of bars and of features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptape {

/// The file's text and a cursor over its rows. The header tells the delimiter: tab, semicolon or comma, whichever it
/// has most of. Fields are trimmed and may stand in double quotes; a UTF-8 byte order mark, CRLF and empty last lines
/// are fine. Every row has as many fields as the first one; that may be fewer than the header names, as some exports
/// name columns at the end that they do not write, but not more.
class TextTable {
 public:
  /// Throws Error: no such file, a folder, unreadable, empty, not UTF-8 text.
  explicit TextTable(const std::filesystem::path& file);
  TextTable(const TextTable&) = delete;
  TextTable& operator=(const TextTable&) = delete;

  const std::string& file_name() const { return file_name_; }

  /// Column names as they stand in the file.
  const std::vector<std::string>& header() const { return header_; }

  /// The header's names in one line, for messages.
  std::string header_text() const;

  /// The column of that name (lower case, blanks for underscores); case and underscores in the header do not matter.
  /// Throws Error when two columns have it.
  std::optional<int> find(std::string_view name) const;

  /// Goes on to the next row; false at the end. Throws Error: wrong number of fields, an empty line between rows, an
  /// open quote.
  bool next();

  /// Of the current row. Throws Error when rows do not reach that column.
  std::string_view field(int column) const;

  /// The field as a finite number, with a decimal point. Throws Error naming line, column and value.
  double number(int column) const;

  /// Line of the current row in the file, counted from 1.
  std::int64_t line() const { return line_; }

  /// "FILE, line N, column 'NAME'", to open a message with.
  std::string where(int column) const;

 private:
  std::string_view take_line();
  void split(std::string_view line, std::vector<std::string_view>& fields) const;

  std::string file_name_;
  std::string text_;
  std::size_t position_ = 0;  // of the next line in text_
  std::int64_t line_ = 0;
  char delimiter_ = ',';
  std::vector<std::string> header_;
  std::vector<std::string> keys_;  // header_ in the form that find compares
  std::vector<std::string_view> fields_;
  std::size_t width_ = 0;  // fields of the first row; 0 before it
};

/// A value from a file as messages show it: in quotes, cut when long.
std::string shown(std::string_view value);

/// Which column or columns say when: by name, or a pair of date and clock time.
class TimeColumns {
 public:
  /// Accepted names, in the order of preference when a file has several: unix, timestamp, ts, open time, gmt time,
  /// datetime, time, date; a `time` that is only a clock time is joined with `date`. The table stands on its first row,
  /// which tells which of the two a `time` column is. Throws Error when there is none.
  explicit TimeColumns(const TextTable& table);

  /// The current row's time, nanoseconds since 1970 UTC. Throws Error naming line, column and value.
  std::int64_t read(const TextTable& table) const;

  /// Whether a column has one of the accepted names, used or not.
  static bool is_time_name(const TextTable& table, int column);

 private:
  int column_ = -1;
  std::optional<int> date_column_;  // set: column_ is a clock time on this date
};

}  // namespace warptape
