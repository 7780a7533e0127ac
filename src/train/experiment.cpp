#include "train/experiment.h"

#include <fmt/ranges.h>

#include <span>

#include "io/checksum.h"
#include "market/csv.h"
#include "market/normaliser.h"
#include "market/user_features.h"
#include "warptape/error.h"

namespace warptape {

RawData make_raw_data(const std::vector<Bars>& series, const std::vector<std::filesystem::path>& features) {
  if (!features.empty() && features.size() != series.size()) {
    fail("{} files of bars but {} of features; give --features-file once for each file of --data, in the same order",
         series.size(), features.size());
  }
  std::vector<FeatureMatrix> joined;
  for (std::size_t i = 0; i < features.size(); ++i) joined.push_back(join_features(features[i], series[i]));
  RawData raw;
  raw.dataset = make_dataset(series, features.empty() ? nullptr : &joined);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string features_hash =
        features.empty() ? "" : xxh3_128_hex(std::as_bytes(std::span<const float>(joined[i].values)));
    raw.series.push_back({series[i].name, series[i].size(), hash_bars(series[i]), features_hash});
  }
  return raw;
}

DataRecipe make_recipe(const RawData& raw, const Config& config) {
  DataRecipe recipe;
  recipe.bounds = split_bounds(raw.dataset, config.split);
  recipe.feature_names = raw.dataset.feature_names;
  recipe.series = raw.series;
  const Dataset train = take_split(raw.dataset, recipe.bounds, Split::kTrain, config.env.episode_length + 1);
  require_usable_starts(train, config.env.episode_length);
  if (config.features.normalise) recipe.normaliser = fit_normaliser(train, config.features.clip);
  return recipe;
}

Dataset prepared_split(const RawData& raw, const DataRecipe& recipe, Split split, std::int64_t min_bars) {
  Dataset dataset = take_split(raw.dataset, recipe.bounds, split, min_bars);
  if (!recipe.normaliser.empty()) apply_normaliser(recipe.normaliser, dataset);
  return dataset;
}

void check_features(const RawData& raw, const DataRecipe& recipe, const std::string& origin) {
  if (raw.dataset.feature_names == recipe.feature_names) return;
  fail(
      "{} was trained on {} features ({} …), the data given have {} ({} …); give the same --features-file columns in "
      "the same order",
      origin, recipe.feature_names.size(), recipe.feature_names.front(), raw.dataset.feature_names.size(),
      raw.dataset.feature_names.front());
}

}  // namespace warptape
