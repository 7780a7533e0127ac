// A made-up series for benchmarks and signatures: what it holds depends on nothing but its arguments.
#pragma once

#include <cstdint>

#include "warptape/dataset.h"

namespace warptape {

/// One segment of `bars` hourly bars: closes a random walk of up to ±`move` a bar from 100, highs and lows around, and
/// `features` columns uniform in ±1 (rates do not depend on what bars mean).
Dataset random_walk(std::int64_t bars, int features, double move, std::uint64_t seed);

}  // namespace warptape
