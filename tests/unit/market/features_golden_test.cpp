// All 51 columns against TA-Lib and numpy (tests/reference/make_talib_golden.py).
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "market/csv.h"
#include "market/features.h"
#include "paths.h"

namespace warptape {
namespace {

const std::filesystem::path kGolden = kGoldenDir;

std::vector<std::vector<std::string>> read_cells(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

TEST(FeaturesGolden, EveryColumnFollowsTaLibAndNumpy) {
  const Bars bars = read_bars(kGolden / "features_bars.csv", DataConfig{});
  ASSERT_EQ(bars.size(), 400);
  const std::vector<float> features = compute_features(bars);
  const std::vector<std::vector<std::string>> expected = read_cells(kGolden / "features_expected.csv");
  ASSERT_EQ(expected.size(), 301u);  // header, bars 100 to 399
  const std::vector<std::string>& names = builtin_feature_names();
  ASSERT_EQ(names.size(), 51u);
  ASSERT_EQ(expected[0].size(), 52u);

  for (std::size_t column = 0; column < names.size(); ++column) {
    EXPECT_EQ(names[column], expected[0][column + 1]);
    for (std::size_t row = 1; row < expected.size(); ++row) {
      const std::size_t bar = std::stoul(expected[row][0]);
      ASSERT_EQ(bar, static_cast<std::size_t>(kWarmupBars) + row - 1);
      const double want = std::stod(expected[row][column + 1]);
      const double got = features[bar * names.size() + column];
      // Half a unit in the last place of float32 (6e-8 of the value), the file's 10 digits (5e-11), and 1e-10 for the
      // rounding of values near 0 that TA-Lib's running sums leave (its %D of a flat stretch is 6e-14, not 0).
      EXPECT_NEAR(got, want, 6.1e-8 * std::fabs(want) + 1e-10) << names[column] << " of bar " << bar;
    }
  }
}

}  // namespace
}  // namespace warptape
