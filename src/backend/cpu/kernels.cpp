// The kernels for the processor that the whole program is compiled for: AVX2 with FMA, else vectors as the compiler
// makes them of fused multiply-adds.
#include "backend/cpu/kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace warptape::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 8;
  __m256 v;
  static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Vec broadcast(float x) { return {_mm256_set1_ps(x)}; }
  void store(float* p) const { _mm256_storeu_ps(p, v); }
};

inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
inline Vec times_slope_unless(Vec positive, Vec x, float slope) {
  const __m256 mask = _mm256_cmp_ps(positive.v, _mm256_setzero_ps(), _CMP_GT_OQ);
  return {_mm256_blendv_ps(_mm256_mul_ps(_mm256_set1_ps(slope), x.v), x.v, mask)};
}

// 12 of the 16 registers hold sums, 2 weights, 1 the row's number.
constexpr int kRows = 6;
constexpr int kVectors = 2;
constexpr const char* kName = "avx2";

}  // namespace
}  // namespace warptape::cpu

#else

namespace warptape::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 4;
  float v[4];
  static Vec load(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
  static Vec broadcast(float x) { return {{x, x, x, x}}; }
  void store(float* p) const {
    for (int i = 0; i < 4; ++i) p[i] = v[i];
  }
};

inline Vec fma(const Vec& a, const Vec& b, Vec c) {
  for (int i = 0; i < 4; ++i) c.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return c;
}
inline Vec times_slope_unless(const Vec& positive, Vec x, float slope) {
  for (int i = 0; i < 4; ++i) x.v[i] = positive.v[i] > 0.0f ? x.v[i] : slope * x.v[i];
  return x;
}

constexpr int kRows = 4;
constexpr int kVectors = 4;
constexpr const char* kName = "portable";

}  // namespace
}  // namespace warptape::cpu

#endif

namespace warptape::cpu {
namespace {

inline Vec leaky(Vec x, float slope) {
  return times_slope_unless(x, x, slope);
}
inline Vec leaky_gradient(Vec d, Vec activation, float slope) {
  return times_slope_unless(activation, d, slope);
}

}  // namespace
}  // namespace warptape::cpu

#include "backend/cpu/kernels_impl.h"

namespace warptape::cpu {

const Kernels& base_kernels() {
  static const Kernels set{kName, multiply<false>, multiply<true>};
  return set;
}

bool runs_x86_64_v4() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

const Kernels& kernels() {
  static const Kernels& best = avx512_kernels() != nullptr ? *avx512_kernels() : base_kernels();
  return best;
}

}  // namespace warptape::cpu
