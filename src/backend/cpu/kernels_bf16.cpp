// The kernels for AVX-512 BF16: kernels_impl.h with pairs of bfloat16 in the place of floats. This file alone is
// compiled for it.
#include "backend/cpu/kernels.h"

#if defined(__AVX512BF16__)

#include <immintrin.h>

namespace warptape::cpu {
namespace {

/// Sixteen sums, or sixteen pairs.
struct Vec {
  static constexpr int kWidth = 16;
  __m512 v;
  static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Vec broadcast(float x) { return {_mm512_set1_ps(x)}; }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_half(float* row, int column) const {
    const __m256bh half = _mm512_cvtneps_pbh(v);
    __builtin_memcpy(reinterpret_cast<char*>(row) + 2 * static_cast<long>(column), &half, sizeof half);
  }
};

/// Of pairs a and b: c + a₀·b₀ + a₁·b₁.
inline Vec fma(Vec a, Vec b, Vec c) {
  __m512bh x, y;
  __builtin_memcpy(&x, &a.v, sizeof x);
  __builtin_memcpy(&y, &b.v, sizeof y);
  return {_mm512_dpbf16_ps(c.v, x, y)};
}
inline Vec leaky(Vec x, float slope) {
  const __mmask16 positive = _mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_GT_OQ);
  return {_mm512_mask_blend_ps(positive, _mm512_mul_ps(_mm512_set1_ps(slope), x.v), x.v)};
}
inline Vec leaky_gradient(Vec d, Vec, float) {
  return d;  // nobody asks for it
}

constexpr int kRows = 8;
constexpr int kVectors = 3;

void round_row(float* row, int count) {
  for (int i = 0; i < count; i += Vec::kWidth) Vec::load(row + i).store_half(row, i);
}

}  // namespace
}  // namespace warptape::cpu

#include "backend/cpu/kernels_impl.h"

namespace warptape::cpu {

const Bf16Kernels* bf16_kernels() {
  static const Bf16Kernels set{multiply<false>, round_row};
  return runs_x86_64_v4() && __builtin_cpu_supports("avx512bf16") ? &set : nullptr;
}

}  // namespace warptape::cpu

#else

namespace warptape::cpu {
const Bf16Kernels* bf16_kernels() {
  return nullptr;
}
}  // namespace warptape::cpu

#endif
