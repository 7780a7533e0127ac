// Bars out of delimited text files (docs/domain.md, sections 1 and 8).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

/// What read_bars changed on the user's request, to be told to the user.
struct ReadReport {
  std::int64_t sorted_rows = 0;         ///< rows that stood before an older one, put in place by `sort`
  std::int64_t dropped_duplicates = 0;  ///< rows replaced by a later row of the file with the same time
};

/// A price may lie outside [low, high] by this part of it: what computed (adjusted) prices lose when printed.
inline constexpr double kPriceTolerance = 1e-9;

/// Reads bars from a file of delimited text with a header line (table.h says what text is tolerated).
///
/// Columns by name, in any order and case: a time (TimeColumns in table.h lists the names, time.h the forms); close;
/// open, high and low together, or none of them (a close-only file: o = h = l = c); optionally volume, also named vol
/// or tick_volume, the first of these that exists. Other columns are ignored.
///
/// Throws Error, naming file, line, column and value: what TextTable and TimeColumns refuse; missing columns; a
/// price <= 0; high < low; open or close outside [low, high] by more than kPriceTolerance; volume < 0; times out of
/// order unless `options.sort`; equal times unless `options.on_duplicate` is "keep-last" (the last in the file stays).
Bars read_bars(const std::filesystem::path& file, const DataConfig& options, ReadReport* report = nullptr);

/// XXH3-128 over times, prices and volume as 32 hexadecimal digits: equal for equal bars whatever file they came from.
std::string hash_bars(const Bars& bars);

}  // namespace warptape
