// Series as people have them, from the folder that WARPTAPE_DATA_DIR names. First and last rows are copied from the
// files by hand, counts are `wc -l` less the header.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "market/csv.h"
#include "market/features.h"
#include "market/time.h"
#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

class RealBars : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("WARPTAPE_DATA_DIR");
    if (folder == nullptr) GTEST_SKIP() << "WARPTAPE_DATA_DIR is not set";
    folder_ = std::filesystem::path(folder) / "bars";
  }

  Bars read(const char* name, const DataConfig& options = {}, ReadReport* report = nullptr) const {
    return read_bars(folder_ / name, options, report);
  }

  std::filesystem::path folder_;
};

void expect_bar(const Bars& bars, std::size_t i, const char* time, double open, double high, double low, double close,
                double volume) {
  EXPECT_EQ(format_time(bars.ts_ns[i]), time);
  EXPECT_EQ(bars.open[i], open);
  EXPECT_EQ(bars.high[i], high);
  EXPECT_EQ(bars.low[i], low);
  EXPECT_EQ(bars.close[i], close);
  EXPECT_EQ(bars.volume[i], volume);
}

TEST_F(RealBars, NewestFirstIsRefusedAndReadSorted) {
  const char* name = "btcusd_1h_2018-2022_cdd.csv";
  EXPECT_TRUE(market_test::has_all(market_test::error_of([&] { read(name); }), {"line 3", "newest first", "--sort"}));
  DataConfig options;
  options.sort = true;
  ReadReport report;
  const Bars bars = read(name, options, &report);
  ASSERT_EQ(bars.size(), 33259);
  EXPECT_EQ(report.sorted_rows, 33258);
  expect_bar(bars, 0, "2018-05-15T06:00:00Z", 8733.86, 8796.68, 8707.28, 8740.99, 4906603.14);
  expect_bar(bars, 33258, "2022-03-01T00:00:00Z", 43221.71, 43626.49, 43185.48, 43312.27, 52.05632);
  EXPECT_EQ(bars.row.front(), 33260);
  EXPECT_EQ(bars.row.back(), 2);
}

TEST_F(RealBars, EpochSeconds) {
  const Bars bars = read("btcusd_4h_2016-2025_coinbase.csv");
  ASSERT_EQ(bars.size(), 20695);
  expect_bar(bars, 0, "2016-05-18T04:00:00Z", 456.16, 456.81, 455.3, 456.02, 561.88098307);
  expect_bar(bars, 20694, "2025-10-28T00:00:00Z", 114087.06, 114553.83, 113570.73, 113912.05, 671.40683572);
}

TEST_F(RealBars, NoVolumeAnywhereIsNoError) {
  const Bars bars = read("eurusd_1h_2011-2018_oanda_bid.csv");
  ASSERT_EQ(bars.size(), 49505);
  expect_bar(bars, 0, "2011-01-02T22:00:00Z", 1.33795, 1.33795, 1.33367, 1.33415, 0);
  expect_bar(bars, 49504, "2018-12-31T21:00:00Z", 1.14558, 1.14662, 1.14552, 1.14607, 0);
  for (const float value : compute_features(bars)) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(RealBars, AdjustedCloseIsLeftAside) {
  const Bars bars = read("aapl_1d_2004-2018_yahoo.csv");
  ASSERT_EQ(bars.size(), 3379);
  expect_bar(bars, 0, "2004-08-19T00:00:00Z", 2.250714, 2.275714, 2.168571, 2.193571, 97230000);
  expect_bar(bars, 3378, "2018-01-19T00:00:00Z", 178.610001, 179.580002, 177.410004, 178.460007, 31269600);
}

TEST_F(RealBars, TabsAndRowsShorterThanTheHeader) {
  const Bars bars = read("sp500_1d_1950-2015.tsv");
  ASSERT_EQ(bars.size(), 16463);
  expect_bar(bars, 0, "1950-01-03T00:00:00Z", 16.66, 16.66, 16.66, 16.66, 1260000);
  expect_bar(bars, 16462, "2015-06-08T00:00:00Z", 2092.34, 2093.01, 2079.11, 2079.28, 2917150000);
}

TEST_F(RealBars, UnnamedIndexAndNoFinalNewline) {
  const Bars bars = read("spy_1d_1999-2020.csv");
  ASSERT_EQ(bars.size(), 5241);
  expect_bar(bars, 0, "1999-11-01T00:00:00Z", 136.5, 137, 135.5625, 135.5625, 4006500);
  expect_bar(bars, 5240, "2020-08-28T00:00:00Z", 349.44, 350.72, 348.15, 350.58, 48588940);
}

TEST_F(RealBars, HourlySessions) {
  const Bars bars = read("spy_1h_1998-2021_lean.csv");
  ASSERT_EQ(bars.size(), 40832);
  expect_bar(bars, 0, "1998-01-02T09:00:00Z", 97.31, 97.53, 97.03, 97.03, 384500);
  expect_bar(bars, 40831, "2021-03-31T15:00:00Z", 397.24, 397.75, 396.05, 396.33, 42345824);
}

TEST_F(RealBars, SlashDatesAreRefused) {
  EXPECT_TRUE(market_test::has_all(market_test::error_of([&] { read("msft_1d_1990-2022.csv"); }),
                                   {"line 2", "'date'", "'1/2/1990'", "slash"}));
}

}  // namespace
}  // namespace warptape
