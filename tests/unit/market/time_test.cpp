// Expected seconds are `date -u -d TEXT +%s`.
#include "market/time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace warptape {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t parsed(const std::string& text) {
  const ParsedTime time = parse_time(text);
  EXPECT_TRUE(time.ok()) << text << ": " << (time.ok() ? "" : time.problem);
  return time.ts_ns;
}

std::string problem(const std::string& text) {
  const ParsedTime time = parse_time(text);
  return time.ok() ? "" : time.problem;
}

TEST(Time, IsoDatesAndClockTimes) {
  EXPECT_EQ(parsed("1970-01-01"), 0);
  EXPECT_EQ(parsed("2020-02-29"), 1582934400 * kSecond);
  EXPECT_EQ(parsed("2020-02-29T23:59:59"), 1583020799 * kSecond);
  EXPECT_EQ(parsed("2020-02-29 23:59:59"), 1583020799 * kSecond);
  EXPECT_EQ(parsed("2020-02-29 23:59"), 1583020740 * kSecond);
  EXPECT_EQ(parsed("1961-07-04T12:00:00Z"), -268056000 * kSecond);
  EXPECT_EQ(parsed("1678-01-01"), -9214560000 * kSecond);
  EXPECT_EQ(parsed("2261-12-31T23:59:59Z"), 9214646399 * kSecond);
}

TEST(Time, FractionsOfASecond) {
  EXPECT_EQ(parsed("1970-01-01T00:00:01.5"), 1'500'000'000);
  EXPECT_EQ(parsed("1970-01-01T00:00:01.000000001Z"), 1'000'000'001);
  EXPECT_EQ(parsed("1970-01-01T00:00:01.1234567890"), 1'123'456'789);  // a 0 behind the nanosecond loses nothing
  EXPECT_NE(problem("1970-01-01T00:00:01.1234567891"), "");
}

TEST(Time, Zones) {
  const std::int64_t expected = 1719806400 * kSecond;  // 2024-07-01T04:00:00Z
  for (const char* text :
       {"2024-07-01T09:30:00+05:30", "2024-07-01T09:30:00+0530", "2024-07-01 00:00:00-04:00", "2024-07-01 00:00-04",
        "2024-07-01T04:00:00Z", "2024-07-01 04:00:00 UTC", "2024-07-01 04:00:00 +00:00", "2024-07-01T04:00:00.000z"}) {
    EXPECT_EQ(parsed(text), expected) << text;
  }
}

TEST(Time, EpochsByMagnitude) {
  const std::int64_t expected = 1646092800 * kSecond;  // 2022-03-01
  for (const char* text : {"1646092800", "1646092800.0", "1646092800000", "1646092800000000", "1646092800000000000",
                           "1646092800000.000"}) {
    EXPECT_EQ(parsed(text), expected) << text;
  }
  EXPECT_EQ(parsed("-152668800"), -152668800 * kSecond);  // 1965-03-01
  EXPECT_EQ(parsed("1646092800.25"), expected + kSecond / 4);
  EXPECT_EQ(parsed("1646092800000.5"), expected + 500'000);
  EXPECT_EQ(parsed("100000000"), 100'000'000 * kSecond);  // the smallest that counts as seconds
  EXPECT_EQ(parsed("100000000000"), 100'000'000 * kSecond);
  EXPECT_EQ(parsed("100000000000000"), 100'000'000 * kSecond);
  EXPECT_EQ(parsed("100000000000000000"), 100'000'000 * kSecond);
}

TEST(Time, RefusesWhatCannotBeToldOrDoesNotExist) {
  EXPECT_NE(problem("01/02/2020").find("slash"), std::string::npos);
  EXPECT_NE(problem("2020/01/02").find("slash"), std::string::npos);
  EXPECT_NE(problem("01.02.2020 10:00:00").find("dotted"), std::string::npos);
  EXPECT_NE(problem("2020.01.02").find("dotted"), std::string::npos);
  EXPECT_NE(problem("20200102").find("too small"), std::string::npos);
  EXPECT_NE(problem("17").find("too small"), std::string::npos);
  EXPECT_NE(problem("2021-02-29").find("calendar"), std::string::npos);
  EXPECT_NE(problem("2021-13-01").find("calendar"), std::string::npos);
  EXPECT_NE(problem("1600-01-01").find("1678"), std::string::npos);
  EXPECT_NE(problem("2262-01-01").find("1678"), std::string::npos);
  EXPECT_NE(problem("9214646400").find("1678"), std::string::npos);
  EXPECT_NE(problem("9999999999999999999").find("1678"), std::string::npos);
  for (const char* text :
       {"", "abc", "2020-1-2", "2020-01-02T", "2020-01-02T25:00", "2020-01-02T10:60", "2020-01-02T10:00:60",
        "2020-01-02T10", "2020-01-02T10:00:00+5", "2020-01-02T10:00:00Zx", "2020-01-02x", "1.6460928e9", "1646092800x",
        "16460928001646092800164", "-", "2020-01-02T10:00:00.", "10:30"}) {
    EXPECT_NE(problem(text), "") << text;
  }
}

TEST(Time, ClockTimesAlone) {
  EXPECT_TRUE(is_clock_time("09:30"));
  EXPECT_TRUE(is_clock_time("9:30:00.5"));
  EXPECT_FALSE(is_clock_time("2020-01-01T09:30"));
  EXPECT_FALSE(is_clock_time("1646092800"));
  EXPECT_FALSE(is_clock_time(""));
}

TEST(Time, FormatsWithAFractionOnlyWhereThereIsOne) {
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_time(1583020799 * kSecond), "2020-02-29T23:59:59Z");
  EXPECT_EQ(format_time(-268056000 * kSecond), "1961-07-04T12:00:00Z");
  EXPECT_EQ(format_time(1'500'000'000), "1970-01-01T00:00:01.500Z");
  EXPECT_EQ(format_time(1'500'020'000), "1970-01-01T00:00:01.500020Z");
  EXPECT_EQ(format_time(1), "1970-01-01T00:00:00.000000001Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(Time, EveryFormattedTimeIsReadBack) {
  constexpr std::int64_t kStride = 123'456'789'123'456'789;
  for (std::int64_t i = -74; i <= 74; ++i) {
    const std::int64_t ts_ns = i * kStride;
    EXPECT_EQ(parsed(format_time(ts_ns)), ts_ns);
  }
}

}  // namespace
}  // namespace warptape
