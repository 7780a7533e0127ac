// Times as nanoseconds since 1970-01-01T00:00:00Z in the proleptic Gregorian calendar, without leap seconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warptape {

/// A time read from text, or what is wrong with the text; `problem` completes the sentence "'<text>' ...".
struct ParsedTime {
  std::int64_t ts_ns = 0;
  const char* problem = nullptr;  ///< nullptr: ts_ns is good

  bool ok() const { return problem == nullptr; }
};

/// Reads one of
///  - ISO 8601: `2020-01-31`, or date and clock time divided by 'T' or one blank: `2020-01-31T09:30`,
///    `2020-01-31 09:30:05.25`, with `Z`, `UTC`, `+hh`, `+hhmm` or `+hh:mm` behind it; without a zone it is UTC;
///  - an epoch, told apart by magnitude |v|: seconds from 1e8, milliseconds from 1e11, microseconds from 1e14,
///    nanoseconds from 1e17 (so seconds and milliseconds before March 1973 are not read: a number under 1e8 is far more
///    often a row number or a date such as 20200131). A decimal fraction is read as far as a nanosecond.
/// Slash and dotted dates are refused: whether day or month comes first cannot be seen. Years: 1678 to 2261.
ParsedTime parse_time(std::string_view text);

/// Whether the text is a clock time alone (`09:30`, `9:30:00.5`), which needs a date column beside it.
bool is_clock_time(std::string_view text);

/// "YYYY-MM-DDTHH:MM:SSZ"; a fraction of 3, 6 or 9 digits only where it is not 0. parse_time reads it back exactly.
std::string format_time(std::int64_t ts_ns);

}  // namespace warptape
