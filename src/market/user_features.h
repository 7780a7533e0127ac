// A user's own features, joined to bars by time (docs/domain.md, section 1).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "warptape/dataset.h"

namespace warptape {

/// Features of one series of bars.
struct FeatureMatrix {
  std::vector<std::string> names;  ///< [columns]
  int columns = 0;                 ///< M
  std::vector<float> values;       ///< [n, M] row-major, a row for each bar
};

/// Reads a file of delimited text (table.h) with a time column (TimeColumns) and numeric columns, and gives each bar
/// the row with exactly its time. Every named column is a feature, in the file's order, except those with one of the
/// time names; a column without a name (a row number that some tools write) is ignored. Rows may be in any order, and
/// rows of other times are checked but not used.
///
/// Whether a value was known at the bar's close is the user's matter: this cannot be seen in the file.
///
/// Throws Error: what TextTable and TimeColumns refuse; no feature column; two of one name; a value that is not a
/// finite number or too large for float32; a time that occurs twice; bars whose time is not in the file.
FeatureMatrix join_features(const std::filesystem::path& file, const Bars& bars);

}  // namespace warptape
