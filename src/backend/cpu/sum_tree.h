// Masses of rows and their sums, 16 children a node: a draw, or a new mass, costs a handful of cache lines. A sum is
// always made anew from its children, so nothing drifts.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/priority.h"

namespace warptape::cpu {

class SumTree {
 public:
  /// `leaves` masses of 0; at least one.
  explicit SumTree(std::int64_t leaves);

  double total() const { return total_; }
  float mass(std::int64_t leaf) const { return leaves_[at(leaf / kFanout)].mass[leaf % kFanout]; }

  /// The leaf into which `target`, of 0 to total(), falls when the masses lie end to end. Its mass is not 0. The total
  /// must not be 0.
  std::int64_t find(double target) const;

  /// Sets a mass and the sums above it.
  void set(std::int64_t leaf, float mass);

  /// Sets a mass and no sum; rebuild() must follow.
  void set_leaf(std::int64_t leaf, float mass) { leaves_[at(leaf / kFanout)].mass[leaf % kFanout] = mass; }
  /// Makes the sums above leaves first … first + count − 1.
  void rebuild(std::int64_t first, std::int64_t count);

 private:
  struct alignas(64) Leaves {
    float mass[kFanout];
  };
  struct alignas(64) Node {
    double mass[kFanout];
  };
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<Leaves> leaves_;
  std::vector<std::vector<Node>> levels_;  // levels_[0] sums leaves_; the last has one node
  double total_ = 0;
};

}  // namespace warptape::cpu
