// From files to what is trained on: identities, recipe, prepared splits.
#include "train/experiment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "market/csv.h"
#include "unit/train/train_worlds.h"

namespace warptape {

namespace {

using train_test::message_of;
using train_test::put;

class Experiment : public ::testing::Test {
 protected:
  Experiment() {
    put(folder_ / "one.csv", train_test::csv_text(900, 1));
    put(folder_ / "two.csv", train_test::csv_text(700, 2));
    put(folder_ / "features.csv", features(1));
  }

  /// A column for the 900 bars of one.csv.
  static std::string features(std::uint64_t seed) {
    cpu_test::Uniform uniform(seed);
    std::string text = "timestamp,x\n";
    for (int t = 0; t < 900; ++t) text += fmt::format("{},{}\n", 1577836800 + t * 3600, 10 + 4 * uniform());
    return text;
  }

  Bars bars(const std::string& name) const { return read_bars(folder_ / name, {}); }

  testing::TempFolder folder_;
  Config config_ = train_test::small_config();
};

TEST_F(Experiment, KnowsItsSeriesByNameBarsAndContent) {
  const RawData raw = make_raw_data({bars("one.csv"), bars("two.csv")}, {});
  ASSERT_EQ(raw.series.size(), 2u);
  EXPECT_EQ(raw.series[0].name, bars("one.csv").name);
  EXPECT_EQ(raw.series[0].bars, 900);
  EXPECT_EQ(raw.series[1].bars, 700);
  EXPECT_NE(raw.series[0].hash, raw.series[1].hash);
  EXPECT_EQ(raw.series[0].features_hash, "");
  EXPECT_EQ(make_raw_data({bars("one.csv")}, {}).series[0], raw.series[0]);
}

TEST_F(Experiment, KnowsAUsersFeaturesByContentToo) {
  const auto with_features = [&] { return make_raw_data({bars("one.csv")}, {folder_ / "features.csv"}).series[0]; };
  const SeriesIdentity first = with_features();
  EXPECT_EQ(first.hash, hash_bars(bars("one.csv")));
  EXPECT_EQ(with_features(), first);
  put(folder_ / "features.csv", features(2));
  EXPECT_EQ(with_features().hash, first.hash);
  EXPECT_NE(with_features().features_hash, first.features_hash);
}

TEST_F(Experiment, WantsAFeaturesFileForEachSeries) {
  const std::string message = message_of<Error>([&] {
    make_raw_data({bars("one.csv"), bars("two.csv")}, {folder_ / "features.csv"});
  });
  EXPECT_NE(message.find("2 files of bars but 1 of features"), std::string::npos) << message;
}

TEST_F(Experiment, ScalesEverySplitByTheTrainingRows) {
  config_.features.clip = 1.5;
  const RawData raw = make_raw_data({bars("one.csv")}, {folder_ / "features.csv"});
  const DataRecipe recipe = make_recipe(raw, config_);
  double mean = 0, square = 0;
  for (std::size_t row = 0; row < 450; ++row) mean += raw.dataset.market[row] / 450.0;
  for (std::size_t row = 0; row < 450; ++row) square += std::pow(raw.dataset.market[row] - mean, 2) / 450.0;
  // Validation: rows 450 to 720, behind an embargo of 100.
  const Dataset validation = prepared_split(raw, recipe, Split::kValidation);
  ASSERT_EQ(validation.bars(), 170);
  int clipped = 0;
  for (std::size_t row = 0; row < 170; ++row) {
    const double scaled = (raw.dataset.market[550 + row] - mean) / std::sqrt(square);
    ASSERT_NEAR(validation.market[row], std::clamp(scaled, -1.5, 1.5), 1e-6) << row;
    clipped += std::fabs(scaled) > 1.5 ? 1 : 0;
    ASSERT_EQ(validation.close[row], raw.dataset.close[550 + row]);
  }
  EXPECT_GT(clipped, 5);
}

TEST_F(Experiment, LeavesFeaturesAsTheyAreWhenAskedTo) {
  config_.features.normalise = false;
  const RawData raw = make_raw_data({bars("one.csv")}, {folder_ / "features.csv"});
  const DataRecipe recipe = make_recipe(raw, config_);
  EXPECT_TRUE(recipe.normaliser.empty());
  const Dataset train = prepared_split(raw, recipe, Split::kTrain);
  ASSERT_EQ(train.bars(), 450);
  EXPECT_TRUE(std::equal(train.market.begin(), train.market.end(), raw.dataset.market.begin()));
}

TEST_F(Experiment, NeedsTrainingBarsForAnEpisode) {
  const RawData raw = make_raw_data({bars("one.csv")}, {folder_ / "features.csv"});
  config_.env.episode_length = 449;
  make_recipe(raw, config_);
  config_.env.episode_length = 450;
  EXPECT_THROW(make_recipe(raw, config_), Error);
}

}  // namespace

}  // namespace warptape
