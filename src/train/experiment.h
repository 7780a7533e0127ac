// From files to what is trained on and back-tested: features, splits and normaliser, made the same way for both.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "market/dataset.h"
#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// Which bars and features a run was made from.
struct SeriesIdentity {
  std::string name;
  std::int64_t bars = 0;
  std::string hash;           ///< hash_bars()
  std::string features_hash;  ///< of the user's own features; empty for the built-in ones, which the bars determine

  bool operator==(const SeriesIdentity&) const = default;
};

/// Features of all bars, before any split or normalisation.
struct RawData {
  Dataset dataset;
  std::vector<SeriesIdentity> series;
};

/// Joins `features` (one file for each series, or none) and computes what is missing.
RawData make_raw_data(const std::vector<Bars>& series, const std::vector<std::filesystem::path>& features);

/// What training learned about the data, kept in every checkpoint, so that a back-test cuts and scales alike.
struct DataRecipe {
  SplitBounds bounds;
  Normaliser normaliser;  ///< empty when features.normalise is off
  std::vector<std::string> feature_names;
  std::vector<SeriesIdentity> series;
};

/// Cuts the splits and fits the normaliser on the training split alone. Throws Error when the training split is too
/// short for an episode.
DataRecipe make_recipe(const RawData& raw, const Config& config);

/// A split's rows, normalised.
Dataset prepared_split(const RawData& raw, const DataRecipe& recipe, Split split, std::int64_t min_bars = kMinBars);

/// Throws Error when `raw` has other features than the recipe, in name or order.
void check_features(const RawData& raw, const DataRecipe& recipe, const std::string& origin);

}  // namespace warptape
