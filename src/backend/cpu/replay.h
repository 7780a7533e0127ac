// The CPU's replay: a ring of compact experiences, uniform sampling (docs/domain.md, section 6).
#pragma once

#include <cstdint>
#include <vector>

#include "replay/experience.h"
#include "replay/ring.h"

namespace warptape::cpu {

class Replay {
 public:
  Replay(std::int64_t slots, std::int64_t capacity)
      : ring_(make_ring(slots, capacity)), rows_(static_cast<std::size_t>(ring_.capacity)) {}

  std::int64_t size() const { return ring_.filled; }
  const Ring& ring() const { return ring_; }
  const std::vector<Experience>& rows() const { return rows_; }
  const Experience& row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }

  /// Appends a round [steps, slots].
  void insert(const std::vector<Experience>& round);

  /// Puts back what a checkpoint holds.
  void restore(const Ring& ring, std::vector<Experience> rows);

 private:
  Ring ring_;
  std::vector<Experience> rows_;
};

}  // namespace warptape::cpu
