// The diversity term: entropy of the last actions' categories, in O(1) a step (docs/domain.md, section 4.4).
#pragma once

#include "core/hd.h"
#include "env/params.h"

namespace warptape {

/// A ring of the last `window` categories, two bits each, and their counts.
struct Diversity {
  u32 ring[kMaxDiversityWindow / 16];
  u16 count[kCategories];
  u16 size;
  u16 head;    // where the next category goes
  u16 unused;  // no padding: checkpoints hold the bytes
};
static_assert(sizeof(Diversity) == 76, "kept per slot on the device: 64 bytes of ring, 6 counters");

HD Diversity empty_diversity() {
  return Diversity{};
}

HD void push_category(Diversity& d, Category category, int window) {
  const u32 word = d.head / 16u;
  const u32 shift = (d.head % 16u) * 2u;
  if (d.size == window) {
    --d.count[(d.ring[word] >> shift) & 3u];
  } else {
    ++d.size;
  }
  d.ring[word] = (d.ring[word] & ~(3u << shift)) | (static_cast<u32>(category) << shift);
  ++d.count[static_cast<u32>(category)];
  d.head = static_cast<u16>(d.head + 1 == window ? 0 : d.head + 1);
}

/// Whether the window's Shannon entropy lies under `min_bits`: n·log2 n − Σ c·log2 c < bits·n − 1e-9·n. Decided from
/// the counts, so that a 50/50 window (exactly 1 bit) is never a penalty because a logarithm's last bit fell short.
HD bool lacks_diversity(const Diversity& d, const EnvParams& p) {
  if (d.size < 3) return false;
  const double n = d.size;
  const double bits_times_n = p.count_log2_count[d.size] - p.count_log2_count[d.count[0]] -
                              p.count_log2_count[d.count[1]] - p.count_log2_count[d.count[2]];
  return bits_times_n < p.diversity_min_bits * n - 1e-9 * n;
}

}  // namespace warptape
