#include "backtest/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "warptape/error.h"

namespace warptape {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;

/// Holds `units` over closing prices from the first to the last, free of cost; bar i is day i of 1970.
SegmentTrace holding(const std::string& segment, double units, const std::vector<double>& closes,
                     std::int64_t first_day = 0) {
  SegmentTrace out;
  out.segment = segment;
  out.trace.initial_capital = 1000;
  const double cash = 1000 - units * closes.front();
  for (std::size_t i = 0; i + 1 < closes.size(); ++i) {
    StepRow row;
    row.ts_ns = (first_day + static_cast<std::int64_t>(i)) * kDayNs;
    row.price = closes[i];
    row.next_price = closes[i + 1];
    row.traded_position = row.position = units;
    row.equity = cash + units * closes[i];
    row.next_equity = cash + units * closes[i + 1];
    out.trace.rows.push_back(row);
  }
  out.end_ts_ns = (first_day + static_cast<std::int64_t>(closes.size()) - 1) * kDayNs;
  return out;
}

std::vector<PolicyTraces> one_segment() {
  const std::vector<double> closes = {100, 110, 99, 120};
  return {{"agent", {holding("a.csv", 5, closes)}}, {"buy-and-hold", {holding("a.csv", 10, closes)}}};
}

class ReportTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("warptape_report_") + test->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string text(const char* file) const {
    std::ifstream stream(folder_ / file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  nlohmann::json metrics() const { return nlohmann::json::parse(text("metrics.json")); }

  std::filesystem::path folder_;
};

TEST_F(ReportTest, FilesOfOneSegment) {
  write_report(folder_, make_report(one_segment(), {}));
  EXPECT_EQ(text("equity.csv"),
            "time,equity,buy-and-hold\n"
            "1970-01-01T00:00:00Z,1000,1000\n"
            "1970-01-02T00:00:00Z,1050,1100\n"
            "1970-01-03T00:00:00Z,995,990\n"
            "1970-01-04T00:00:00Z,1100,1200\n");
  EXPECT_EQ(text("trades.csv"),
            "segment,opened,closed,side,units,entry_price,exit_price,bars,gross,cost,net,return_pct,exit\n"
            "a.csv,1970-01-01T00:00:00Z,,long,5,100,120,3,100,0,100,20,end of data\n");

  const nlohmann::json json = metrics();
  EXPECT_EQ(json["split"], "test");
  EXPECT_TRUE(json["combined"].is_null());
  ASSERT_EQ(json["segments"].size(), 1u);
  const nlohmann::json& segment = json["segments"][0];
  EXPECT_EQ(segment["segment"], "a.csv");
  EXPECT_EQ(segment["bars"], 3);
  EXPECT_EQ(segment["first"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(segment["last"], "1970-01-04T00:00:00Z");
  EXPECT_NEAR(segment["bars_per_year"].get<double>(), 365.25, 1e-9);
  const nlohmann::json& agent = segment["policies"]["agent"];
  EXPECT_EQ(agent["trades"], 1);
  EXPECT_EQ(agent["exits"]["end_of_data"], 1);
  EXPECT_EQ(agent["exits"]["stop"], 0);
  EXPECT_NEAR(agent["metrics"]["total_return"]["value"].get<double>(), 0.1, 1e-15);
  EXPECT_TRUE(agent["metrics"]["profit_factor"]["value"].is_null());
  EXPECT_NEAR(segment["policies"]["buy-and-hold"]["metrics"]["maximum_drawdown"]["value"].get<double>(), -0.1, 1e-15);
}

TEST_F(ReportTest, LeavesNothingButItsFiles) {
  write_report(folder_, make_report(one_segment(), {}));
  write_report(folder_, make_report(one_segment(), {}));  // over the first
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 3);
}

TEST_F(ReportTest, AFileInTheFoldersPlaceIsAnErrorThatNamesIt) {
  std::ofstream(folder_) << "in the way";
  try {
    write_report(folder_, make_report(one_segment(), {}));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(folder_.string()), std::string::npos) << e.what();
  }
  EXPECT_EQ(std::filesystem::file_size(folder_), 10u);
}

TEST_F(ReportTest, SegmentsOfTheSameTimesAreAlsoAddedUp) {
  const std::vector<double> up = {100, 110, 120}, down = {100, 90, 85};
  const std::vector<PolicyTraces> policies = {{"agent", {holding("up, fast", 10, up), holding("down", 10, down)}}};
  write_report(folder_, make_report(policies, {}));
  EXPECT_EQ(text("equity.csv"),
            "segment,time,equity\n"
            "\"up, fast\",1970-01-01T00:00:00Z,1000\n"
            "\"up, fast\",1970-01-02T00:00:00Z,1100\n"
            "\"up, fast\",1970-01-03T00:00:00Z,1200\n"
            "down,1970-01-01T00:00:00Z,1000\n"
            "down,1970-01-02T00:00:00Z,900\n"
            "down,1970-01-03T00:00:00Z,850\n"
            "all,1970-01-01T00:00:00Z,2000\n"
            "all,1970-01-02T00:00:00Z,2000\n"
            "all,1970-01-03T00:00:00Z,2050\n");
  const nlohmann::json json = metrics();
  EXPECT_EQ(json["segments"].size(), 2u);
  const nlohmann::json& agent = json["combined"]["policies"]["agent"];
  EXPECT_NEAR(agent["metrics"]["total_return"]["value"].get<double>(), 0.025, 1e-15);
  EXPECT_EQ(agent["metrics"]["hit_rate"]["value"], 0.5);
  EXPECT_EQ(agent["trades"], 2);
}

TEST_F(ReportTest, SegmentsOfOtherTimesStandAlone) {
  const std::vector<double> closes = {100, 110, 120};
  const std::vector<PolicyTraces> policies = {{"agent", {holding("a", 10, closes), holding("b", 10, closes, 1)}}};
  const auto report = make_report(policies, {});
  EXPECT_FALSE(report.combined.has_value());
  const std::string table = metrics_table(report);
  EXPECT_NE(table.find("test split, a: 2 bars, 1970-01-01T00:00:00Z to 1970-01-03T00:00:00Z"), std::string::npos);
  EXPECT_NE(table.find("test split, b: 2 bars, 1970-01-02T00:00:00Z to 1970-01-04T00:00:00Z"), std::string::npos);
}

TEST_F(ReportTest, ARuinedPolicyStaysWhereItIs) {
  const std::vector<double> closes = {100, 150, 210, 150, 160};
  std::vector<PolicyTraces> policies = {{"agent", {holding("a", -10, {100, 150, 210})}},
                                        {"buy-and-hold", {holding("a", 10, closes)}}};
  policies[0].segments[0].trace.rows.back().terminal = true;
  write_report(folder_, make_report(policies, {}));
  EXPECT_EQ(text("equity.csv"),
            "time,equity,buy-and-hold\n"
            "1970-01-01T00:00:00Z,1000,1000\n"
            "1970-01-02T00:00:00Z,500,1500\n"
            "1970-01-03T00:00:00Z,-100,2100\n"
            "1970-01-04T00:00:00Z,-100,1500\n"
            "1970-01-05T00:00:00Z,-100,1600\n");
  const nlohmann::json agent = metrics()["segments"][0]["policies"]["agent"];
  EXPECT_EQ(agent["bars"], 4);
  EXPECT_EQ(agent["exits"]["ruin"], 1);
  EXPECT_TRUE(agent["metrics"]["sharpe"]["value"].is_null());
  EXPECT_EQ(agent["metrics"]["time_in_market"]["value"], 0.5);
}

TEST_F(ReportTest, NumbersHaveTheMoneysDigits) {
  auto policies = one_segment();
  policies[0].segments[0].trace.digits = 9;
  policies[0].segments[0].trace.rows[0].equity = 1000.0 / 3;
  write_report(folder_, make_report(policies, {}));
  EXPECT_NE(text("equity.csv").find(",333.333333,"), std::string::npos);
}

TEST_F(ReportTest, TableAlignsColumnsAndSaysWhatWasGiven) {
  ReportOptions options;
  options.bars_per_year = 252;
  const std::string table = metrics_table(make_report(one_segment(), options));
  EXPECT_EQ(table.find("test split, a.csv: 3 bars, 1970-01-01T00:00:00Z to 1970-01-04T00:00:00Z, 252 bars per year "
                       "(given)\n\n"),
            0u);
  std::istringstream lines(table.substr(table.find("\n\n") + 2));
  std::vector<std::string> rows;
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) {
    if (rows.empty()) width = line.size();
    EXPECT_EQ(line.size(), width) << line;
    std::istringstream words(line);
    std::string row;
    for (std::string word; words >> word;) row += (row.empty() ? "" : " ") + word;
    rows.push_back(row);
  }
  ASSERT_GT(rows.size(), 2u);
  EXPECT_EQ(rows[0], "agent buy-and-hold");
  EXPECT_EQ(rows[1], "total return +10.0000 % +20.0000 %");
  EXPECT_NE(std::find(rows.begin(), rows.end(), "maximum drawdown -5.2381 % -10.0000 %"), rows.end());  // 55/1050
  EXPECT_NE(std::find(rows.begin(), rows.end(), "profit factor n/a n/a"), rows.end());
  EXPECT_EQ(rows.back(), "exits by profit 0 0");
}

}  // namespace
}  // namespace warptape
