#include "market/csv.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <string>
#include <vector>

#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

using market_test::error_of;
using market_test::has_all;
using market_test::kHourNs;
using market_test::kStartNs;
using market_test::TextFile;

Bars read(const std::string& text, const DataConfig& options = {}, ReadReport* report = nullptr) {
  const TextFile file(text);
  return read_bars(file.path(), options, report);
}

std::string refused(const std::string& text, const DataConfig& options = {}) {
  const TextFile file(text);
  return error_of([&] { read_bars(file.path(), options); });
}

constexpr const char* kHeader = "time,open,high,low,close,volume\n";

std::string row(const std::string& time, const std::string& rest = "100,102,99,101,10") {
  return time + "," + rest + "\n";
}

TEST(ReadBars, ReadsEveryColumn) {
  const Bars bars = read(std::string(kHeader) + "2020-01-01T00:00:00Z,100,102,99,101,10\n" +
                         "2020-01-01T01:00:00Z,101,103.5,100.5,103,0\n");
  EXPECT_EQ(bars.name, "bars.csv");
  EXPECT_EQ(bars.ts_ns, (std::vector<std::int64_t>{kStartNs, kStartNs + kHourNs}));
  EXPECT_EQ(bars.open, (std::vector<double>{100, 101}));
  EXPECT_EQ(bars.high, (std::vector<double>{102, 103.5}));
  EXPECT_EQ(bars.low, (std::vector<double>{99, 100.5}));
  EXPECT_EQ(bars.close, (std::vector<double>{101, 103}));
  EXPECT_EQ(bars.volume, (std::vector<double>{10, 0}));
  EXPECT_EQ(bars.row, (std::vector<std::int64_t>{2, 3}));
}

TEST(ReadBars, ToleratesOrderCaseQuotesBlanksMarkAndLineEnds) {
  const char* texts[] = {
      "\xEF\xBB\xBFTime,Open,High,Low,Close,Volume\r\n2020-01-01,100,102,99,101,10\r\n\r\n\r\n",
      "CLOSE;low;High;OPEN;Vol;DATE\n101;99;102;100;10;2020-01-01",
      "\"Open "
      "time\",\"Open\",\"High\",\"Low\",\"Close\",\"Tick_Volume\"\n\"2020-01-01\",\"100\",\"102\",99,\"101\",\"10\"\n",
      "datetime\topen\thigh\tlow\tclose\tvolume\n2020-01-01 00:00:00\t 100 \t102\t99\t101\t10\n   \n",
      ",note,Gmt time,open,high,low,close,volume\n0,\"a, \"\"b\"\"\",2020-01-01,100,102,99,101,10\n",
      "timestamp,open,high,low,close,volume\n1577836800000,100,102,99,101,10\n",
      "date,time,open,high,low,close,volume\n2019-12-31,1577836800,100,102,99,101,10\n",
  };
  for (const char* text : texts) {
    const Bars bars = read(text);
    ASSERT_EQ(bars.size(), 1) << text;
    EXPECT_EQ(bars.ts_ns[0], kStartNs) << text;
    EXPECT_EQ(bars.open[0], 100) << text;
    EXPECT_EQ(bars.high[0], 102) << text;
    EXPECT_EQ(bars.low[0], 99) << text;
    EXPECT_EQ(bars.close[0], 101) << text;
    EXPECT_EQ(bars.volume, std::vector<double>{10}) << text;
  }
}

TEST(ReadBars, AnEpochGoesBeforeADateAndAClockTimeIsJoinedWithIt) {
  const Bars epoch = read("date,unix,close\n1999-01-01,1577836800,5\n");
  EXPECT_EQ(epoch.ts_ns[0], kStartNs);
  const Bars joined = read("date,time,close\n2020-01-01,01:00,5\n2020-01-01,2:00:00,6\n");
  EXPECT_EQ(joined.ts_ns, (std::vector<std::int64_t>{kStartNs + kHourNs, kStartNs + 2 * kHourNs}));
  EXPECT_TRUE(has_all(refused("time,close\n01:00,5\n"), {"line 2", "'time'", "'01:00'", "clock time", "'date'"}));
}

TEST(ReadBars, CloseOnlyAndNoVolume) {
  const Bars bars = read("time,close\n2020-01-01,100.5\n2020-01-02,99\n");
  EXPECT_EQ(bars.open, (std::vector<double>{100.5, 99}));
  EXPECT_EQ(bars.high, bars.open);
  EXPECT_EQ(bars.low, bars.open);
  EXPECT_EQ(bars.close, bars.open);
  EXPECT_TRUE(bars.volume.empty());
}

TEST(ReadBars, HeaderMayNameMoreThanRowsHave) {
  const Bars bars = read("date\tclose\tvolume\tadj close\n2020-01-01\t16.66\t1260000\n2020-01-02\t16.85\t1890000\n");
  EXPECT_EQ(bars.close, (std::vector<double>{16.66, 16.85}));
  EXPECT_TRUE(
      has_all(refused("date,close,volume\n2020-01-01,16.66\n"), {"line 2", "'volume'", "2 fields", "column 3"}));
}

TEST(ReadBars, NumbersDoNotDependOnTheLocale) {
  // Where the machine lacks these locales this still checks the reading itself.
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, locale) != nullptr) break;
  }
  const Bars bars = read("time,close\n2020-01-01,1234.5\n2020-01-02,1.5e-3\n");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(bars.close, (std::vector<double>{1234.5, 0.0015}));
}

TEST(ReadBars, MissingColumnsNameWhatTheHeaderHas) {
  EXPECT_TRUE(
      has_all(refused("time,open,high,low\n2020-01-01,1,1,1\n"), {"bars.csv", "'close'", "time, open, high, low"}));
  EXPECT_TRUE(has_all(refused("when,close\n2020-01-01,1\n"), {"bars.csv", "time", "unix", "when, close"}));
  EXPECT_TRUE(has_all(refused("time,high,low,close\n2020-01-01,1,1,1\n"), {"open, high and low", "time, high, low"}));
  EXPECT_TRUE(has_all(refused("time,close,Close\n2020-01-01,1,1\n"), {"two columns", "'close'"}));
}

TEST(ReadBars, BadNumbersNameLineColumnAndValue) {
  const struct {
    const char* values;
    std::initializer_list<std::string_view> words;
  } cases[] = {
      {"100,102,99,abc,10", {"line 3", "'close'", "'abc'", "not a number"}},
      {"100,102,99,1.234,5", {"line 3", "'close'", "outside"}},
      {"100,102,99,\"1,5\",5", {"line 3", "'close'", "'1,5'", "not a number"}},
      {"100,102,99,,10", {"line 3", "'close'", "empty"}},
      {"nan,102,99,101,10", {"line 3", "'open'", "'nan'", "finite"}},
      {"100,inf,99,101,10", {"line 3", "'high'", "'inf'", "finite"}},
      {"100,1e999,99,101,10", {"line 3", "'high'", "'1e999'", "out of range"}},
      {"100,102,0,101,10", {"line 3", "'low'", "'0'", "above 0"}},
      {"100,102,-1,101,10", {"line 3", "'low'", "'-1'", "above 0"}},
      {"100,98,99,98.5,10", {"line 3", "'high'", "98", "below low 99"}},
      {"98,102,99,101,10", {"line 3", "'open'", "'98'", "outside"}},
      {"100,102,99,102.5,10", {"line 3", "'close'", "'102.5'", "outside"}},
      {"100,102,99,101,-3", {"line 3", "'volume'", "'-3'", "negative"}},
      {"100,102,99,101,x", {"line 3", "'volume'", "'x'", "not a number"}},
  };
  for (const auto& c : cases) {
    const std::string message = refused(kHeader + row("2020-01-01") + row("2020-01-02", c.values));
    EXPECT_TRUE(has_all(message, c.words) && has_all(message, {"bars.csv"})) << c.values << " gave: " << message;
  }
}

TEST(ReadBars, OpenAndCloseMayMissTheRangeByRounding) {
  // 1e-9 of the price is let pass, 1e-8 is not.
  EXPECT_EQ(read(kHeader + row("2020-01-01", "100,101,99,101.00000005,1")).size(), 1);
  EXPECT_NE(refused(kHeader + row("2020-01-01", "100,101,99,101.000002,1")), "");
  EXPECT_EQ(read(kHeader + row("2020-01-01", "98.99999995,101,99,100,1")).size(), 1);
  EXPECT_NE(refused(kHeader + row("2020-01-01", "98.999998,101,99,100,1")), "");
}

TEST(ReadBars, BadTimesNameLineColumnAndValue) {
  EXPECT_TRUE(has_all(refused(kHeader + row("01/02/2020")), {"line 2", "'time'", "'01/02/2020'", "slash"}));
  EXPECT_TRUE(has_all(refused(kHeader + row("2020-01-01") + row("soon")), {"line 3", "'time'", "'soon'", "ISO 8601"}));
  EXPECT_TRUE(has_all(refused(kHeader + row("")), {"line 2", "'time'", "empty"}));
}

TEST(ReadBars, RowsOfAnotherWidthAreRefused) {
  EXPECT_TRUE(
      has_all(refused(kHeader + row("2020-01-01") + row("2020-01-02", "100,102,99,101")), {"line 3", "5", "6"}));
  EXPECT_TRUE(
      has_all(refused(kHeader + row("2020-01-01", "100,102,99,101,10,7")), {"line 2", "7 fields", "6 columns"}));
  EXPECT_TRUE(has_all(refused(kHeader + row("2020-01-01") + "\n" + row("2020-01-02")), {"line 3", "empty"}));
  EXPECT_TRUE(has_all(refused(kHeader + row("\"2020-01-01")), {"line 2", "quote"}));
  EXPECT_TRUE(has_all(refused(kHeader + row("\"2020-01-01\"x")), {"line 2", "quote"}));
}

TEST(ReadBars, FilesThatAreNone) {
  EXPECT_TRUE(has_all(refused(""), {"bars.csv", "empty"}));
  EXPECT_TRUE(has_all(refused("\n \n"), {"bars.csv", "empty"}));
  EXPECT_TRUE(has_all(refused(kHeader), {"bars.csv", "no rows"}));
  EXPECT_TRUE(has_all(refused(std::string("t\0i\0m\0e\0,\0", 10)), {"bars.csv", "UTF-8"}));
  const TextFile file("x");
  EXPECT_TRUE(has_all(error_of([&] { read_bars(file.folder() / "gone.csv", {}); }), {"gone.csv", "o such file"}));
  EXPECT_TRUE(has_all(error_of([&] { read_bars(file.folder(), {}); }), {file.folder().string()}));
}

TEST(ReadBars, OrderIsRefusedOrMendedAndCounted) {
  const std::string text = kHeader + row("2020-01-01T02:00", "3,3,3,3,3") + row("2020-01-01T01:00", "2,2,2,2,2") +
                           row("2020-01-01T03:00", "4,4,4,4,4") + row("2020-01-01T00:00", "1,1,1,1,1");
  const std::string message = refused(text);
  EXPECT_TRUE(has_all(message, {"line 3", "2020-01-01T01:00:00Z", "line 2", "2020-01-01T02:00:00Z", "--sort"}));
  EXPECT_TRUE(has_all(message, {"newest first"}));
  DataConfig options;
  options.sort = true;
  ReadReport report;
  const Bars bars = read(text, options, &report);
  EXPECT_EQ(report.sorted_rows, 2);
  EXPECT_EQ(report.dropped_duplicates, 0);
  EXPECT_EQ(bars.close, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(bars.volume, bars.close);
  EXPECT_EQ(bars.row, (std::vector<std::int64_t>{5, 3, 2, 4}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(bars.ts_ns[static_cast<std::size_t>(i)], kStartNs + i * kHourNs);
}

TEST(ReadBars, DuplicatesAreRefusedOrTheLastKeptAndCounted) {
  const std::string text = kHeader + row("2020-01-01", "1,1,1,1,1") + row("2020-01-02", "2,2,2,2,2") +
                           row("2020-01-02", "3,3,3,3,3") + row("2020-01-02T00:00:00Z", "4,4,4,4,4") +
                           row("2020-01-03", "5,5,5,5,5");
  EXPECT_TRUE(has_all(refused(text), {"lines 3 and 4", "2020-01-02T00:00:00Z", "--on-duplicate keep-last"}));
  DataConfig options;
  options.on_duplicate = "keep-last";
  ReadReport report;
  const Bars bars = read(text, options, &report);
  EXPECT_EQ(report.dropped_duplicates, 2);
  EXPECT_EQ(report.sorted_rows, 0);
  EXPECT_EQ(bars.close, (std::vector<double>{1, 4, 5}));
  EXPECT_EQ(bars.row, (std::vector<std::int64_t>{2, 5, 6}));
}

TEST(ReadBars, SortedDuplicatesKeepTheLastOfTheFile) {
  DataConfig options;
  options.sort = true;
  const std::string text =
      kHeader + row("2020-01-02", "1,1,1,1,1") + row("2020-01-01", "2,2,2,2,2") + row("2020-01-02", "3,3,3,3,3");
  EXPECT_TRUE(has_all(refused(text, options), {"lines 2 and 4", "keep-last"}));
  options.on_duplicate = "keep-last";
  ReadReport report;
  EXPECT_EQ(read(text, options, &report).close, (std::vector<double>{2, 3}));
  EXPECT_EQ(report.sorted_rows, 1);
  EXPECT_EQ(report.dropped_duplicates, 1);
}

TEST(ReadBars, SortingKeepsTheOrderOfManyEqualTimes) {
  // Enough rows that a sort which is not stable would mix them.
  std::string text = "unix,close\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("{},{}\n", 1577836800 + 3600 * ((299 - i) % 3), i + 1);
  DataConfig options;
  options.sort = true;
  options.on_duplicate = "keep-last";
  ReadReport report;
  EXPECT_EQ(read(text, options, &report).close, (std::vector<double>{300, 299, 298}));
  EXPECT_EQ(report.dropped_duplicates, 297);
}

TEST(HashBars, IsXxh3OverCountsAndColumns) {
  // xxhash.xxh3_128 over struct.pack("<qq", n, volumes) and the little-endian columns, in Python.
  Bars bars = read(std::string(kHeader) + "2020-01-01T00:00:00Z,100,102,99,101,10\n2020-01-01T01:00:00Z," +
                   "101,103.5,100.5,103,0\n");
  EXPECT_EQ(hash_bars(bars), "11f0399301619bc839ca78d2deabb23a");
  bars.volume.clear();
  EXPECT_EQ(hash_bars(bars), "8c890dff93152c345b0662107d0827ac");
}

TEST(HashBars, TellsEveryValueButNotNameOrLines) {
  const Bars bars = market_test::random_bars(20, 1);
  Bars same = bars;
  same.name = "other";
  same.row.assign(20, 0);
  EXPECT_EQ(hash_bars(same), hash_bars(bars));
  for (std::vector<double> Bars::*column : {&Bars::open, &Bars::high, &Bars::low, &Bars::close, &Bars::volume}) {
    Bars changed = bars;
    (changed.*column)[7] += 1e-9;
    EXPECT_NE(hash_bars(changed), hash_bars(bars));
  }
  Bars changed = bars;
  changed.ts_ns[7] += 1;
  EXPECT_NE(hash_bars(changed), hash_bars(bars));
}

}  // namespace
}  // namespace warptape
