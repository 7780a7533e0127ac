// The market's part of a network's first layer, once per bar instead of once per experience:
// W·state + b = (W[:M]·market[bar] + b) + W[M:]·(3 portfolio numbers). The chain of multiply-adds is the whole layer's,
// only begun beforehand, so the result has the whole layer's bits.
#pragma once

#include <cstdint>

#include "backend/cpu/floats.h"
#include "backend/cpu/layers.h"
#include "backend/cpu/states.h"
#include "backend/cpu/thread_pool.h"

namespace warptape::cpu {

class MarketLayer {
 public:
  /// Whether a table of `bars` rows of `layer` costs less than it saves in a round of `experiences`.
  static bool pays(const DenseLayer& layer, std::int64_t bars, std::int64_t experiences);

  /// Fills the table, [bars, stride], for these parameters.
  void fill(ThreadPool& pool, const DenseLayer& layer, const float* parameters, const Market& market,
            std::int64_t bars);

  /// y [rows, stride] = LeakyReLU of the layer for states (bar[r], numbers[r]); bar < 0: a state of zeros, whose
  /// numbers are zeros too.
  void finish(const DenseLayer& layer, const float* parameters, int rows, const i32* bar, const float* numbers,
              float* y) const;

 private:
  Floats table_;
};

}  // namespace warptape::cpu
