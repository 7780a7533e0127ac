// Bars, datasets and their splits: what is read from files and what a backend trains on (docs/domain.md, section 1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warptape {

/// One instrument's bars in time order, checked where they were read: prices finite and > 0, high >= low, times rising.
struct Bars {
  std::string name;                            ///< the file's name without folder: names the segment in reports
  std::vector<std::int64_t> ts_ns;             ///< [n] opening or stamp time as in the file, nanoseconds since 1970 UTC
  std::vector<double> open, high, low, close;  ///< [n]
  std::vector<double> volume;                  ///< [n], or empty where the file has none
  std::vector<std::int64_t> row;               ///< [n] line in the file, counted from 1, for messages

  std::int64_t size() const { return static_cast<std::int64_t>(close.size()); }
};

/// A contiguous run of dataset rows that an episode may not leave: rows [first, first + count).
struct Segment {
  std::string name;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// What a backend is given: features and prices of all segments, one after another.
struct Dataset {
  int features = 0;                            ///< M
  std::vector<std::string> feature_names;      ///< [M]
  std::vector<float> market;                   ///< [bars, M] row-major, normalised once a Normaliser was applied
  std::vector<double> open, high, low, close;  ///< [bars]
  std::vector<std::int64_t> ts_ns;             ///< [bars]
  std::vector<Segment> segments;

  std::int64_t bars() const { return static_cast<std::int64_t>(close.size()); }
};

/// Per-column standardisation, fitted on training rows only; a column that doesn't vary becomes 0.
struct Normaliser {
  std::vector<double> mean;       ///< [M]
  std::vector<double> deviation;  ///< [M] population deviation; 0 marks a column that doesn't vary
  double clip = 5.0;              ///< in deviations
  bool empty() const { return mean.empty(); }
};

enum class Split : std::uint8_t { kTrain, kValidation, kTest, kAll };

/// "train", "validation", "test", "all".
const char* split_name(Split split);

}  // namespace warptape
