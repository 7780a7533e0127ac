#include "market/user_features.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/market/market_test_tools.h"

namespace warptape {
namespace {

using market_test::error_of;
using market_test::has_all;
using market_test::random_bars;
using market_test::TextFile;

FeatureMatrix join(const std::string& text, std::int64_t bars = 3) {
  const TextFile file(text, "features.csv");
  return join_features(file.path(), random_bars(bars, 1));
}

std::string refused(const std::string& text, std::int64_t bars = 3) {
  return error_of([&] { join(text, bars); });
}

TEST(JoinFeatures, GivesEachBarTheRowOfItsTime) {
  const FeatureMatrix matrix = join(
      "alpha,Time,Beta_2,\n"
      "5,2020-01-01T02:00:00Z,-2.5,0\n"
      "1,2020-01-01T00:00:00Z,1e-3,1\n"
      "9,2031-01-01T00:00:00Z,9,2\n"
      "3,2020-01-01T01:00:00Z,0,3\n");
  EXPECT_EQ(matrix.names, (std::vector<std::string>{"alpha", "Beta_2"}));
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_EQ(matrix.values, (std::vector<float>{1, 1e-3f, 3, 0, 5, -2.5f}));
}

TEST(JoinFeatures, ColumnsWithATimeNameAreNoFeatures) {
  const FeatureMatrix matrix = join("unix,date,x\n1577836800,2020-01-01,7\n", 1);
  EXPECT_EQ(matrix.names, std::vector<std::string>{"x"});
  EXPECT_EQ(matrix.values, std::vector<float>{7});
}

TEST(JoinFeatures, RefusesBarsWithoutARow) {
  const std::string message = refused("time,x\n2020-01-01T01:00:00Z,1\n", 6);
  EXPECT_TRUE(has_all(message, {"features.csv", "5 of the 6 bars", "series_1", "2020-01-01T00:00:00Z",
                                "2020-01-01T02:00:00Z", "2020-01-01T03:00:00Z, ..."}))
      << message;
}

TEST(JoinFeatures, RefusesBadValuesEverywhereInTheFile) {
  const std::string rows = "time,x,y\n2020-01-01,1,2\n";
  EXPECT_TRUE(has_all(refused(rows + "2031-01-01,nan,2\n", 1), {"line 3", "'x'", "'nan'", "finite"}));
  EXPECT_TRUE(has_all(refused(rows + "2031-01-01,1,-inf\n", 1), {"line 3", "'y'", "'-inf'", "finite"}));
  EXPECT_TRUE(has_all(refused(rows + "2031-01-01,1,1e39\n", 1), {"line 3", "'y'", "'1e39'", "float32"}));
  EXPECT_TRUE(has_all(refused(rows + "2031-01-01,a,2\n", 1), {"line 3", "'x'", "'a'", "not a number"}));
  EXPECT_TRUE(has_all(refused(rows + "2031-01-01,,2\n", 1), {"line 3", "'x'", "empty"}));
}

TEST(JoinFeatures, RefusesRepeatedTimesAndNames) {
  EXPECT_TRUE(has_all(refused("time,x\n2020-01-01,1\n2020-01-02,1\n2020-01-01T00:00:00Z,2\n", 1),
                      {"lines 2 and 4", "2020-01-01T00:00:00Z"}));
  EXPECT_TRUE(has_all(refused("time,x,x\n2020-01-01,1,2\n", 1), {"two columns", "'x'"}));
}

TEST(JoinFeatures, RefusesFilesWithoutTimeOrFeatures) {
  EXPECT_TRUE(has_all(refused("time\n2020-01-01\n", 1), {"no feature column"}));
  EXPECT_TRUE(has_all(refused("x,y\n1,2\n", 1), {"time", "x, y"}));
  EXPECT_TRUE(has_all(refused("time,x\n", 1), {"1 of the 1 bars"}));
}

}  // namespace
}  // namespace warptape
