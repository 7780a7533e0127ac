// Philox4x32-10: random numbers by key, not by state (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). The same (seed, slot, step, draw) gives the same number on every backend, whatever the launch shape.
#pragma once

#include "core/hd.h"

namespace warptape {

struct Philox4 {
  u32 word[4];
};

/// Ten rounds of Philox4x32 over one counter block.
HD Philox4 philox4x32_10(Philox4 counter, u32 key0, u32 key1) {
  for (int round = 0; round < 10; ++round) {
    const u64 product0 = u64{0xD2511F53u} * counter.word[0];
    const u64 product1 = u64{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<u32>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<u32>(product1),
                static_cast<u32>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<u32>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// What a random number is for; each use has its own stream.
enum class Draw : u32 {
  kExplore = 0,    // slot, step: whether to explore, then (word 1) which action
  kStart = 1,      // slot, episode: where an episode starts
  kClassic = 2,    // slot: the first state of a classic slot's LCG
  kInit = 3,       // network, parameter block: initial weights
  kReplay = 4,     // row of the batch, update: which experience to learn from
  kCuriosity = 5,  // row of the batch, update: which experience curiosity learns from
  kPolicy = 6,     // segment, bar: the random baseline's action
  kMadeUp = 7,     // column, bar: series for benchmarks and signatures
};

/// Four words for (seed, slot, step, draw).
HD Philox4 random_words(u64 seed, u32 slot, u64 step, Draw draw) {
  return philox4x32_10({{slot, static_cast<u32>(step), static_cast<u32>(step >> 32), static_cast<u32>(draw)}},
                       static_cast<u32>(seed), static_cast<u32>(seed >> 32));
}

/// w·2⁻³² in [0, 1), exact in double.
HD double unit_interval(u32 word) {
  return static_cast<double>(word) * 0x1p-32;
}

/// (w·n) >> 32: uniform over 0 … n-1 for n < 2³².
HD u32 below(u32 word, u32 n) {
  return static_cast<u32>((static_cast<u64>(word) * n) >> 32);
}

}  // namespace warptape
