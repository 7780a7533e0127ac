// The kernels for AVX-512. This file alone is compiled for it; see kernels_impl.h for what that forbids.
#if defined(__AVX512F__)

#include <immintrin.h>

namespace warptape::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 16;
  __m512 v;
  static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Vec broadcast(float x) { return {_mm512_set1_ps(x)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
};

inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Vec leaky(Vec x, float slope) {
  const __mmask16 positive = _mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_GT_OQ);
  return {_mm512_mask_blend_ps(positive, _mm512_mul_ps(_mm512_set1_ps(slope), x.v), x.v)};
}
inline Vec leaky_gradient(Vec d, Vec activation, float slope) {
  const __mmask16 positive = _mm512_cmp_ps_mask(activation.v, _mm512_setzero_ps(), _CMP_GT_OQ);
  return {_mm512_mask_blend_ps(positive, _mm512_mul_ps(_mm512_set1_ps(slope), d.v), d.v)};
}

// 24 of the 32 registers hold sums, 3 weights, 1 the row's number.
constexpr int kRows = 8;
constexpr int kVectors = 3;

}  // namespace
}  // namespace warptape::cpu

#include "backend/cpu/kernels_impl.h"

namespace warptape::cpu {

const Kernels* avx512_kernels() {
  static const Kernels set{"avx512", multiply<false>, multiply<true>};
  return runs_x86_64_v4() ? &set : nullptr;
}

}  // namespace warptape::cpu

#else

#include "backend/cpu/kernels.h"

namespace warptape::cpu {
const Kernels* avx512_kernels() {
  return nullptr;
}
}  // namespace warptape::cpu

#endif
