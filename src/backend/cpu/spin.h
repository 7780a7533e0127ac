// Waiting a little without giving the processor away.
#pragma once

#include <chrono>

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

/// Returns when `done` is true, or after `longest`; what a pause takes differs tenfold between processors.
template <typename Done>
void spin_until(std::chrono::microseconds longest, const Done& done) {
  constexpr int kLooksAClock = 16;
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < kLooksAClock; ++i) {
      if (done()) return;
      pause_processor();
    }
  } while (std::chrono::steady_clock::now() - start < longest);
}

}  // namespace warptape::cpu
