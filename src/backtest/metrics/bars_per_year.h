// How many bars make a year: what annualised metrics are scaled with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warptape {

/// The steps from bar to bar over the time between the first and the last, in years of 365.25 days: 8766 for hours
/// around the clock, about 252 for trading days, since nights, weekends and holidays lie inside the span. Undefined
/// with fewer than 2 bars and where no time passes. `ts_ns` rises.
std::optional<double> bars_per_year(const std::vector<std::int64_t>& ts_ns);

/// How the number was found, for the reader: "given", or in words; `given` tells whether the user set it.
std::string bars_per_year_source(const std::optional<double>& value, bool given);

}  // namespace warptape
