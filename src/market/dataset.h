// Datasets out of bars, their splits by time, and where an episode may start (docs/domain.md, section 1).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "market/user_features.h"
#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// Fewest bars that a step needs: one to act at, one to be marked to market at.
inline constexpr std::int64_t kMinBars = 2;

/// One segment for each series. Without user features: the built-in 51 columns, with the first kWarmupBars bars of each
/// series left out, features, prices and times alike. With them, [series.size()] matrices: nothing is left out.
/// Throws Error: a series with fewer bars than the warm-up and kMinBars; matrices whose columns differ in name or
/// order.
Dataset make_dataset(const std::vector<Bars>& series, const std::vector<FeatureMatrix>* user_features);

/// Where the splits of a dataset begin and end. The cuts are times, the same for all segments: instruments move
/// together, so a cut at each one's own fraction would let one train on days on which another is tested.
struct SplitBounds {
  std::int64_t train_end_ns = 0;         ///< first cut: train is what lies before it
  std::int64_t validation_begin_ns = 0;  ///< earliest validation bar of any segment, behind the embargo
  std::int64_t validation_end_ns = 0;    ///< second cut: validation ends before it
  std::int64_t test_begin_ns = 0;        ///< earliest test bar of any segment, behind the embargo
  std::int64_t embargo = 0;              ///< bars of each segment left out from each cut on
};

/// Bars that a feature of the dataset looks back: kWarmupBars for the built-in columns, 0 for a user's, which only the
/// user can know (split.embargo).
std::int64_t longest_look_back(const Dataset& dataset);

/// Cuts so that, of all bars in order of time, the parts `train` and `validation` of `config` lie before the first and
/// between the two cuts; bars of one time are never parted. The embargo is config.embargo or the longest look-back,
/// whichever is more. A cut behind the last bar, and the begin of a split without bars, are the largest int64.
/// Throws Error when the fractions are negative or come to more than 1.
SplitBounds split_bounds(const Dataset& dataset, const SplitConfig& config);

/// A copy of the split's rows, one segment for each that has at least kMinBars rows in it; kAll: everything.
/// Throws Error, naming what to change, when no segment has `min_bars` (>= kMinBars) rows; for training this is
/// episode_length + 1.
Dataset take_split(const Dataset& dataset, const SplitBounds& bounds, Split split, std::int64_t min_bars = kMinBars);

/// The inverse of split_name; throws Error for another word.
Split parse_split(std::string_view name);

/// [segments] how many rows of each segment a whole episode may start at: an episode of L steps covers L + 1 bars.
std::vector<std::int64_t> usable_starts(const Dataset& dataset, std::int64_t episode_length);

/// Throws Error when no segment has a usable start.
void require_usable_starts(const Dataset& dataset, std::int64_t episode_length);

}  // namespace warptape
