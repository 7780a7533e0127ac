// The curiosity model's error is a function of (bar, category): each is computed when it is first asked for and kept
// until the model's weights change.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/curiosity_net.h"

namespace warptape::cpu {

class CuriosityTable {
 public:
  static constexpr int kRows = 64;  // that one call may ask for

  struct Key {
    i32 bar;
    Category category;
  };

  /// One worker's room.
  struct Scratch {
    explicit Scratch(const CuriosityShape& shape) : activations(shape, kRows) {}
    CuriosityActivations activations;
    std::array<int, kRows> missing{};
    std::array<float, kRows> computed{};
  };

  CuriosityTable(const CuriosityShape& shape, const Market& market, std::int64_t bars);

  /// Forgets all errors: the weights are others now.
  void clear();

  /// errors [keys]: the model's mean squared error at each key. Threads may ask at once; what two of them compute for
  /// one key is the same.
  void errors(const float* parameters, std::span<const Key> keys, Scratch& scratch, float* errors);

 private:
  float& entry(const Key& key) {
    return values_[static_cast<std::size_t>(key.bar) * kCategories + static_cast<std::size_t>(key.category)];
  }

  CuriosityNet net_;
  Market market_;
  std::vector<float> values_;  // [bars, categories]; negative: not known yet
};

}  // namespace warptape::cpu
