#include "market/dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/check.h"
#include "market/features.h"
#include "warptape/error.h"

namespace warptape {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::array<Split, 4> kSplits = {Split::kTrain, Split::kValidation, Split::kTest, Split::kAll};

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from, std::int64_t first, std::int64_t count) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}

/// Rows [first, first + count) of `from`, a Dataset or Bars, with their features [rows of from, M], as a segment more.
template <typename Rows>
void append_segment(Dataset& to, const std::string& name, const Rows& from, const std::vector<float>& market,
                    std::int64_t first, std::int64_t count) {
  to.segments.push_back({name, to.bars(), count});
  append(to.market, market, first * to.features, count * to.features);
  append(to.open, from.open, first, count);
  append(to.high, from.high, first, count);
  append(to.low, from.low, first, count);
  append(to.close, from.close, first, count);
  append(to.ts_ns, from.ts_ns, first, count);
}

void check_names(const std::vector<Bars>& series, const std::vector<FeatureMatrix>& matrices, std::size_t i) {
  if (matrices[i].names == matrices[0].names) return;
  std::string difference = fmt::format("{} columns against {}", matrices[i].columns, matrices[0].columns);
  for (std::size_t c = 0; c < std::min(matrices[i].names.size(), matrices[0].names.size()); ++c) {
    if (matrices[i].names[c] == matrices[0].names[c]) continue;
    difference = fmt::format("column {} is '{}' against '{}'", c + 1, matrices[i].names[c], matrices[0].names[c]);
    break;
  }
  fail("the features of {} differ from those of {}: {}; give all the same columns in the same order", series[i].name,
       series[0].name, difference);
}

/// Rows [first, first + count) of a segment that lie in a split.
struct RowRange {
  std::int64_t first = 0, count = 0;
};

/// The segment's first row at or after a time, or its end.
std::int64_t row_at(const Dataset& dataset, const Segment& segment, std::int64_t ts_ns) {
  const auto begin = dataset.ts_ns.begin() + static_cast<std::ptrdiff_t>(segment.first);
  const auto end = begin + static_cast<std::ptrdiff_t>(segment.count);
  return std::lower_bound(begin, end, ts_ns) - dataset.ts_ns.begin();
}

RowRange rows_of(const Dataset& dataset, const Segment& segment, const SplitBounds& bounds, Split split) {
  const std::int64_t end = segment.first + segment.count;
  const std::int64_t first_cut = row_at(dataset, segment, bounds.train_end_ns);
  const std::int64_t second_cut = row_at(dataset, segment, bounds.validation_end_ns);
  // A segment that begins behind a cut has nothing before it to keep apart from, but loses the embargo all the same:
  // the other segments' training bars reach up to the cut.
  const auto from_cut = [&](std::int64_t cut, std::int64_t until) {
    const std::int64_t first = std::min(cut + bounds.embargo, until);
    return RowRange{first, until - first};
  };
  switch (split) {
    case Split::kTrain:
      return {segment.first, first_cut - segment.first};
    case Split::kValidation:
      return from_cut(first_cut, second_cut);
    case Split::kTest:
      return from_cut(second_cut, end);
    case Split::kAll:
      break;
  }
  return {segment.first, segment.count};
}

std::int64_t begin_of(const Dataset& dataset, const SplitBounds& bounds, Split split) {
  std::int64_t begin = kNever;
  for (const Segment& segment : dataset.segments) {
    const RowRange rows = rows_of(dataset, segment, bounds, split);
    if (rows.count > 0) begin = std::min(begin, dataset.ts_ns[static_cast<std::size_t>(rows.first)]);
  }
  return begin;
}

std::string plural(std::int64_t bars) {
  return fmt::format("{} {}", bars, bars == 1 ? "bar" : "bars");
}

[[noreturn]] void fail_split(Split split, std::int64_t longest, std::int64_t min_bars, std::int64_t embargo,
                             std::int64_t least_embargo) {
  const bool lower_embargo = embargo > least_embargo;
  const char* remedy = "give more bars";
  if (split == Split::kTrain) remedy = "give more bars, raise split.train or lower env.episode_length";
  if (split == Split::kValidation)
    remedy = lower_embargo ? "give more bars, raise split.validation or lower split.embargo"
                           : "give more bars or raise split.validation";
  if (split == Split::kTest) {
    remedy = lower_embargo ? "give more bars, lower split.train or split.validation, or lower split.embargo"
                           : "give more bars, or lower split.train or split.validation";
  }
  const bool embargoed = split == Split::kValidation || split == Split::kTest;
  fail("the {} split has too few bars: its longest segment has {}{}, {} needed; {}", split_name(split), plural(longest),
       embargoed ? fmt::format(" after the embargo of {}", embargo) : "",
       plural(min_bars) + (min_bars == 1 ? " is" : " are"), remedy);
}

}  // namespace

Dataset make_dataset(const std::vector<Bars>& series, const std::vector<FeatureMatrix>* user_features) {
  CHECK(!series.empty());
  if (user_features != nullptr) CHECK_EQ(user_features->size(), series.size());
  const std::int64_t dropped = user_features == nullptr ? kWarmupBars : 0;
  Dataset dataset;
  dataset.feature_names = user_features == nullptr ? builtin_feature_names() : user_features->front().names;
  dataset.features = static_cast<int>(dataset.feature_names.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Bars& bars = series[i];
    if (bars.size() < dropped + kMinBars) {
      fail("{}: has {}, at least {} are needed{}; give more bars", bars.name, plural(bars.size()), dropped + kMinBars,
           dropped > 0 ? fmt::format(" ({} for the features' look-back)", dropped) : "");
    }
    if (user_features == nullptr) {
      append_segment(dataset, bars.name, bars, compute_features(bars), dropped, bars.size() - dropped);
    } else {
      const FeatureMatrix& matrix = (*user_features)[i];
      check_names(series, *user_features, i);
      CHECK_EQ(matrix.values.size(), bars.close.size() * matrix.names.size());
      append_segment(dataset, bars.name, bars, matrix.values, 0, bars.size());
    }
  }
  return dataset;
}

std::int64_t longest_look_back(const Dataset& dataset) {
  return dataset.feature_names == builtin_feature_names() ? kWarmupBars : 0;
}

SplitBounds split_bounds(const Dataset& dataset, const SplitConfig& config) {
  if (!(config.train >= 0) || !(config.validation >= 0) || config.train + config.validation > 1 + 1e-12) {
    fail("split.train {} and split.validation {}: neither may be negative, and together they are at most 1",
         config.train, config.validation);
  }
  std::vector<std::int64_t> times = dataset.ts_ns;
  std::sort(times.begin(), times.end());
  const auto cut_at = [&](double fraction) {
    const auto row = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(times.size())));
    return row < times.size() ? times[row] : kNever;
  };
  SplitBounds bounds;
  bounds.train_end_ns = cut_at(config.train);
  bounds.validation_end_ns = cut_at(config.train + config.validation);
  bounds.embargo = std::max(config.embargo, longest_look_back(dataset));
  bounds.validation_begin_ns = begin_of(dataset, bounds, Split::kValidation);
  bounds.test_begin_ns = begin_of(dataset, bounds, Split::kTest);
  return bounds;
}

Dataset take_split(const Dataset& dataset, const SplitBounds& bounds, Split split, std::int64_t min_bars) {
  CHECK_GE(min_bars, kMinBars);
  Dataset taken;
  taken.features = dataset.features;
  taken.feature_names = dataset.feature_names;
  std::int64_t longest = 0;
  for (const Segment& segment : dataset.segments) {
    const RowRange rows = rows_of(dataset, segment, bounds, split);
    longest = std::max(longest, rows.count);
    if (rows.count < kMinBars) continue;
    append_segment(taken, segment.name, dataset, dataset.market, rows.first, rows.count);
  }
  if (longest < min_bars) {
    fail_split(split, longest, min_bars, bounds.embargo, longest_look_back(dataset));
  }
  return taken;
}

const char* split_name(Split split) {
  switch (split) {
    case Split::kTrain:
      return "train";
    case Split::kValidation:
      return "validation";
    case Split::kTest:
      return "test";
    case Split::kAll:
      break;
  }
  return "all";
}

Split parse_split(std::string_view name) {
  for (const Split split : kSplits) {
    if (name == split_name(split)) return split;
  }
  fail("'{}' is not a split: train, validation, test or all", name);
}

std::vector<std::int64_t> usable_starts(const Dataset& dataset, std::int64_t episode_length) {
  std::vector<std::int64_t> starts;
  for (const Segment& segment : dataset.segments) {
    starts.push_back(std::max<std::int64_t>(0, segment.count - episode_length));
  }
  return starts;
}

void require_usable_starts(const Dataset& dataset, std::int64_t episode_length) {
  std::int64_t longest = 0;
  const Segment* longest_segment = nullptr;
  for (const Segment& segment : dataset.segments) {
    if (segment.count > episode_length) return;
    if (segment.count > longest) {
      longest = segment.count;
      longest_segment = &segment;
    }
  }
  const std::int64_t look_back = longest_look_back(dataset);
  fail(
      "too few bars for the look-back plus one episode: the longest segment{} has {} to start in{}, and an episode of "
      "env.episode_length = {} steps needs {}; give more bars or lower env.episode_length",
      longest_segment == nullptr ? "" : fmt::format(" ({})", longest_segment->name), plural(longest),
      look_back > 0 ? fmt::format(" behind the look-back of {}", look_back) : "", episode_length, episode_length + 1);
}

}  // namespace warptape
