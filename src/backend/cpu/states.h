// States from compact experiences: market row, then three portfolio numbers.
#pragma once

#include <algorithm>

#include "env/observe.h"

namespace warptape::cpu {

/// The market matrix [bars, M] as the loops read it.
struct Market {
  const float* rows = nullptr;
  int features = 0;

  const float* row(i32 bar) const { return rows + static_cast<std::size_t>(bar) * static_cast<std::size_t>(features); }
  int state_size() const { return features + kPortfolioNumbers; }

  /// state [M + 3] of dataset row `bar`; bar < 0 is a classic row of zeros.
  void write_state(i32 bar, const float* numbers, float* state) const {
    if (bar < 0) {
      std::fill(state, state + state_size(), 0.0f);
      return;
    }
    std::copy(row(bar), row(bar) + features, state);
    std::copy(numbers, numbers + kPortfolioNumbers, state + features);
  }
};

}  // namespace warptape::cpu
