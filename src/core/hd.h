// The vocabulary that the host compiler and NVRTC share: the only file with compiler macros. What includes it may be
// compiled for a GPU, so it uses no standard library and allocates nothing.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define HD __host__ __device__ __forceinline__
#define WARPTAPE_MATH(name) ::name  // NVRTC knows floor, not __builtin_floor
#else
#define HD inline
#define WARPTAPE_MATH(name) __builtin_##name
#endif

namespace warptape {

// NVRTC has no <cstdint>. The widths are those of every platform CUDA runs on.
using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
static_assert(sizeof(i8) == 1 && sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8);

template <typename T>
HD constexpr T abs_of(T x) {
  return x < T(0) ? -x : x;
}
template <typename T>
HD constexpr T min_of(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
HD constexpr T max_of(T a, T b) {
  return a < b ? b : a;
}

// Both round toward minus infinity, exactly, on every target.
HD float floor_of(float x) {
  return WARPTAPE_MATH(floorf)(x);
}
HD double floor_of(double x) {
  return WARPTAPE_MATH(floor)(x);
}

/// The square root, correctly rounded on every target (NVRTC: unless --prec-sqrt=false).
HD float root_of(float x) {
  return WARPTAPE_MATH(sqrtf)(x);
}

/// x to the power of y, to the last bits of the target's own library: backends differ there.
HD float power_of(float x, float y) {
  return WARPTAPE_MATH(powf)(x, y);
}

#undef WARPTAPE_MATH

}  // namespace warptape
