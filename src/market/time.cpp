#include "market/time.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>

namespace warptape {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
// int64 nanoseconds reach from September 1677 to April 2262; whole years leave room for clock time and zone.
constexpr std::int64_t kFirstYear = 1678;
constexpr std::int64_t kLastYear = 2261;
constexpr std::int64_t kMaxEpochDays = 106'650;  // on either side of 1970, within those years

constexpr const char* kUnreadable =
    "is not a time that can be read: write ISO 8601 (2020-01-31T09:30:00Z) or a whole epoch in s, ms, us or ns";
constexpr const char* kOutOfRange = "lies outside the years 1678 to 2261, which is what nanoseconds can count";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads text from the front; every step says whether it found what it wanted.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  bool accept(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool accept(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }

  /// A number of min..max digits.
  bool digits(int min, int max, std::int64_t& value) {
    int count = 0;
    value = 0;
    while (count < max && !rest_.empty() && is_digit(rest_.front())) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
      ++count;
    }
    return count >= min;
  }

  /// Digits behind a decimal point as nanoseconds of a unit: "25" of a second is 250,000,000. Digits finer than a
  /// nanosecond must be 0.
  bool fraction(std::int64_t unit_ns, std::int64_t& value_ns) {
    value_ns = 0;
    int count = 0;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1), ++count) {
      const int digit = rest_.front() - '0';
      unit_ns /= 10;
      if (unit_ns == 0 && digit != 0) return false;
      value_ns += digit * unit_ns;
    }
    return count > 0;
  }

 private:
  std::string_view rest_;
};

bool scan_clock(Scanner& scan, std::int64_t& ns_of_day) {
  std::int64_t hour = 0, minute = 0, second = 0, fraction_ns = 0;
  if (!scan.digits(1, 2, hour) || !scan.accept(':') || !scan.digits(2, 2, minute)) return false;
  if (scan.accept(':')) {
    if (!scan.digits(2, 2, second)) return false;
    if (scan.accept('.') && !scan.fraction(kNsPerSecond, fraction_ns)) return false;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  ns_of_day = (hour * 3600 + minute * 60 + second) * kNsPerSecond + fraction_ns;
  return true;
}

/// Nothing, Z, UTC, or an offset from UTC.
bool scan_zone(Scanner& scan, std::int64_t& offset_ns) {
  offset_ns = 0;
  scan.accept(' ');
  if (scan.accept('Z') || scan.accept('z') || scan.accept("UTC")) return true;
  const bool minus = scan.accept('-');
  if (!minus && !scan.accept('+')) return scan.at_end();
  std::int64_t hours = 0, minutes = 0;
  if (!scan.digits(2, 2, hours)) return false;
  if (scan.accept(':')) {
    if (!scan.digits(2, 2, minutes)) return false;
  } else if (!scan.at_end() && !scan.digits(2, 2, minutes)) {
    return false;
  }
  if (hours > 23 || minutes > 59) return false;
  offset_ns = (hours * 3600 + minutes * 60) * kNsPerSecond * (minus ? -1 : 1);
  return true;
}

ParsedTime parse_iso(std::string_view text) {
  Scanner scan(text);
  std::int64_t year = 0, month = 0, day = 0;
  if (!scan.digits(4, 4, year) || !scan.accept('-') || !scan.digits(2, 2, month) || !scan.accept('-') ||
      !scan.digits(2, 2, day)) {
    return {0, kUnreadable};
  }
  if (year < kFirstYear || year > kLastYear) return {0, kOutOfRange};
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {0, "names a day that the calendar does not have"};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();

  std::int64_t ns_of_day = 0, offset_ns = 0;
  if (scan.accept('T') || scan.accept('t') || scan.accept(' ')) {
    if (!scan_clock(scan, ns_of_day) || !scan_zone(scan, offset_ns)) return {0, kUnreadable};
  }
  if (!scan.at_end()) return {0, kUnreadable};
  return {days * kSecondsPerDay * kNsPerSecond + ns_of_day - offset_ns, nullptr};
}

/// Nanoseconds in the unit that the magnitude tells; 0: too small for an epoch.
std::int64_t epoch_unit_ns(std::int64_t magnitude) {
  if (magnitude >= 100'000'000'000'000'000) return 1;
  if (magnitude >= 100'000'000'000'000) return 1'000;
  if (magnitude >= 100'000'000'000) return 1'000'000;
  if (magnitude >= 100'000'000) return kNsPerSecond;
  return 0;
}

ParsedTime parse_epoch(std::string_view text) {
  Scanner scan(text);
  const bool negative = scan.accept('-');
  std::int64_t magnitude = 0;
  if (!scan.digits(1, 18, magnitude)) return {0, kUnreadable};
  if (std::int64_t digit = 0; scan.digits(1, 1, digit)) {  // a 19th digit: from 9e18 on (the year 2255) it may not fit
    if (magnitude >= 900'000'000'000'000'000) return {0, kOutOfRange};
    magnitude = magnitude * 10 + digit;
  }
  const std::int64_t unit_ns = epoch_unit_ns(magnitude);
  std::int64_t fraction_ns = 0;
  if (unit_ns == 0) {
    return {0,
            "is too small for an epoch (row numbers and dates without dashes are not read): write ISO 8601 "
            "(2020-01-31T09:30:00Z)"};
  }
  if (scan.accept('.') && !scan.fraction(unit_ns, fraction_ns)) return {0, kUnreadable};
  if (!scan.at_end()) return {0, kUnreadable};
  if (magnitude / (kNsPerSecond / unit_ns) / kSecondsPerDay >= kMaxEpochDays) return {0, kOutOfRange};
  const std::int64_t ts_ns = magnitude * unit_ns + fraction_ns;
  return {negative ? -ts_ns : ts_ns, nullptr};
}

}  // namespace

ParsedTime parse_time(std::string_view text) {
  if (text.empty()) return {0, "is empty: a time is needed"};
  const std::size_t separator = text.find_first_not_of("0123456789");
  const char next = separator == std::string_view::npos ? '\0' : text[separator];
  if (next == '/' || (next == '.' && separator <= 2)) {
    return {0,
            "is a slash or dotted date, where day and month cannot be told apart: write ISO 8601 "
            "(2020-01-31T09:30:00Z)"};
  }
  if (next == '.' && separator == 4) return {0, "is a dotted date: write ISO 8601 (2020-01-31T09:30:00Z)"};
  if (next == '-' && separator != 0) return parse_iso(text);
  return parse_epoch(text);
}

bool is_clock_time(std::string_view text) {
  Scanner scan(text);
  std::int64_t ns_of_day = 0;
  return scan_clock(scan, ns_of_day);
}

std::string format_time(std::int64_t ts_ns) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds(ts_ns)};
  const sys_days midnight = floor<days>(time);
  const year_month_day date(midnight);
  const hh_mm_ss<nanoseconds> clock(time - midnight);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  const std::int64_t fraction_ns = clock.subseconds().count();
  if (fraction_ns % 1'000 != 0) {
    text += fmt::format(".{:09}", fraction_ns);
  } else if (fraction_ns % 1'000'000 != 0) {
    text += fmt::format(".{:06}", fraction_ns / 1'000);
  } else if (fraction_ns != 0) {
    text += fmt::format(".{:03}", fraction_ns / 1'000'000);
  }
  return text + 'Z';
}

}  // namespace warptape
