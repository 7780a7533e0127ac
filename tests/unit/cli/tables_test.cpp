// `features` and `metrics`: tables in, tables out.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "unit/cli/cli_inputs.h"
#include "unit/cli/run_program.h"

namespace warptape {
namespace {

using cli_test::expect_contains;
using cli_test::Outcome;

std::vector<std::vector<std::string>> table_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
  }
  return rows;
}

TEST(CliFeatures, AreFiftyOneBehindTheWarmUp) {
  const cli_test::Desk desk;
  const auto bars = table_of(cli_test::bars_csv(250));
  desk.put("bars.csv", cli_test::bars_csv(250));
  const Outcome outcome = desk.run_well({"features", "--data", "bars.csv", "--out", "features.csv"});
  EXPECT_EQ(outcome.err, "");
  expect_contains(outcome.out, {"150 bars", "51 features", "features.csv"});

  const auto table = table_of(desk.content("features.csv"));
  ASSERT_EQ(table.size(), 1u + 150u);
  for (const auto& row : table) ASSERT_EQ(row.size(), 52u);
  EXPECT_EQ(table[0][0], "time");
  EXPECT_EQ(table[0][1], "log_return_1");
  EXPECT_EQ(table[1][0], "2020-01-05T04:00:00Z");  // 100 hours after 2020-01-01
  for (std::size_t row = 0; row < 150; ++row) {
    const auto close = [&](std::size_t bar) { return std::strtod(bars[bar + 1][4].c_str(), nullptr); };
    EXPECT_FLOAT_EQ(std::strtof(table[row + 1][1].c_str(), nullptr),
                    static_cast<float>(std::log(close(row + 100) / close(row + 99))));
  }
}

TEST(CliFeatures, OfBarsWithoutVolumeAreAsMany) {
  const cli_test::Desk desk;
  std::string closes = "time,close\n";
  for (int bar = 0; bar < 110; ++bar) closes += fmt::format("{},{}\n", 1577836800 + 60 * bar, 100 + bar % 7);
  desk.put("closes.csv", closes);
  desk.run_well({"features", "--data", "closes.csv", "--out", "features.csv"});
  const auto table = table_of(desk.content("features.csv"));
  ASSERT_EQ(table.size(), 1u + 10u);
  EXPECT_EQ(table[10].size(), 52u);
}

TEST(CliMetrics, PrintFormulaAndParameters) {
  const cli_test::Desk desk;
  desk.put("equity.csv", "equity\n1000\n1020\n1009.8\n1029.996\n1019.69604\n");  // +2, −1, +2, −1 %
  const Outcome outcome =
      desk.run_well({"metrics", "--equity", "equity.csv", "--bars-per-year", "252", "--rf", "0.02"});
  EXPECT_EQ(outcome.err, "");
  expect_contains(outcome.out, {"+1.9696 %", "E_n/E_0 - 1", "mean(r - rf)/std(r)*sqrt(N)", "N 252", "ddof 1", "rf "});
  EXPECT_EQ(outcome.out.find("n/a"), std::string::npos);
}

TEST(CliMetrics, WhatIsUndefinedIsNotANumber) {
  const cli_test::Desk desk;
  desk.put("equity.csv", "equity\n100\n100\n100\n");  // no deviation, no drawdown
  const Outcome outcome = desk.run_well({"metrics", "--equity", "equity.csv", "--bars-per-year", "252"});
  expect_contains(outcome.out, {"n/a"});
  EXPECT_EQ(outcome.out.find("nan"), std::string::npos);
  EXPECT_EQ(outcome.out.find("inf"), std::string::npos);
}

TEST(CliMetrics, TakeTheEquityOfABacktestAsItIs) {
  const cli_test::Desk desk;
  desk.put("equity.csv",
           "time,equity,buy-and-hold,flat,random\n2020-01-01T00:00:00Z,100,1,1,1\n2020-01-02T00:00:00Z,110,2,2,2\n");
  expect_contains(desk.run_well({"metrics", "--equity", "equity.csv"}).out, {"+10.0000 %", "365.25"});
}

struct BadEquity {
  const char* name;
  const char* text;
  std::vector<std::string> message;
};

class CliBadEquity : public ::testing::TestWithParam<BadEquity> {};

TEST_P(CliBadEquity, IsRefused) {
  const cli_test::Desk desk;
  desk.put("equity.csv", GetParam().text);
  desk.expect_refused({"metrics", "--equity", "equity.csv"}, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Every, CliBadEquity,
    ::testing::Values(
        BadEquity{"NoColumn", "a,b\n1,2\n3,4\n", {"equity.csv", "no column 'equity'", "a, b"}},
        BadEquity{"UnreadableTime", "time,equity\n2020-01-01,1\nlater,2\n", {"line 3", "'time'", "'later'"}},
        BadEquity{"OutOfOrder", "time,equity\n2020-01-02,1\n2020-01-01,2\n", {"equity.csv", "line 3", "2020-01-01"}},
        BadEquity{"RepeatedTime", "time,equity\n2020-01-02,1\n2020-01-02,2\n", {"equity.csv", "line 3", "2020-01-02"}},
        BadEquity{"Nan", "equity\n1\nnan\n", {"equity.csv", "line 3", "'equity'", "'nan'"}},
        BadEquity{"Infinity", "equity\n1\n-inf\n", {"equity.csv", "line 3", "'equity'", "'-inf'"}},
        BadEquity{"StartsAtZero", "equity\n0\n1\n", {"equity.csv", "line 2", "'equity'", "'0'"}},
        BadEquity{"TooFew", "equity\n1\n", {"equity.csv", "1 rows", "at least 2"}}, BadEquity{"Empty", "", {"empty"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(CliMetrics, RefuseFilesAndOptionsThatAreWrong) {
  const cli_test::Desk desk;
  desk.put("equity.csv", "equity\n1\n2\n");
  desk.expect_refused({"metrics", "--equity", "none.csv"}, {"none.csv", "No such file"});
  desk.expect_refused({"metrics", "--equity", "equity.csv", "--bars-per-year", "0"}, {"--bars-per-year 0"});
  desk.expect_refused({"metrics", "--equity", "equity.csv", "--rf", "-1"}, {"--rf -1"});
}

}  // namespace
}  // namespace warptape
