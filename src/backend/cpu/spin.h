// Waiting a little without giving the processor away.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace warptape::cpu {

inline void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks at most `spins` times whether `done` is true.
template <typename Done>
void spin_until(int spins, const Done& done) {
  for (int i = 0; i < spins && !done(); ++i) pause_processor();
}

}  // namespace warptape::cpu
