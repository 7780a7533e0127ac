#include "backend/cpu/replay.h"

#include <algorithm>

#include "core/check.h"

namespace warptape::cpu {

void Replay::insert(const std::vector<Experience>& round) {
  const std::int64_t steps = static_cast<std::int64_t>(round.size()) / ring_.slots;
  CHECK_EQ(steps * ring_.slots, static_cast<std::int64_t>(round.size()));
  CHECK_LE(steps * ring_.slots, ring_.capacity);
  for (std::int64_t t = 0; t < steps; ++t) {
    std::copy_n(round.begin() + static_cast<std::ptrdiff_t>(t * ring_.slots), ring_.slots,
                rows_.begin() + static_cast<std::ptrdiff_t>(insert_row(ring_, t, 0)));
  }
  advance(ring_, steps);
}

void Replay::restore(const Ring& ring, std::vector<Experience> rows) {
  CHECK_EQ(ring.capacity, ring_.capacity);
  CHECK_EQ(ring.slots, ring_.slots);
  CHECK_EQ(static_cast<std::int64_t>(rows.size()), ring.filled);
  ring_ = ring;
  rows.resize(static_cast<std::size_t>(ring.capacity));
  rows_ = std::move(rows);
}

}  // namespace warptape::cpu
