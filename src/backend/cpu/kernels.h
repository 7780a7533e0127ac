// The products of the networks, for whatever vector unit the processor has.
//
// Every element of a result is one chain of fused multiply-adds, over the depth in rising order, from its starting
// value. No element's chain depends on the vector's width, on how many rows are computed together, or on the other
// rows. So all sets below give the same bits, a row gives the same bits in any batch, and a product split along its
// depth (kAccumulate) gives those of the whole.
#pragma once

namespace warptape::cpu {

/// Columns are computed in whole groups of this many: matrices are as wide as that asks for, padded with zeros.
inline constexpr int kGroup = 16;

constexpr int padded(int columns) {
  return (columns + kGroup - 1) / kGroup * kGroup;
}

/// How far apart the rows of a matrix lie: an odd number of groups. Rows a power of two apart would crowd into a few
/// sets of the first-level cache.
constexpr int row_stride(int columns) {
  const int groups = padded(columns) / kGroup;
  return (groups % 2 == 0 ? groups + 1 : groups) * kGroup;
}

enum class Init : unsigned char { kBias, kZero, kAccumulate };
/// kLeakyHalf: kLeaky, and each row rounded to bfloat16, half as long; by Bf16Kernels alone.
enum class Finish : unsigned char { kNone, kLeaky, kLeakyGradient, kLeakyHalf };

/// c [rows, columns] = finish(init + A·b), with b [depth, columns].
struct Product {
  int rows = 0, columns = 0, depth = 0;  ///< columns: a multiple of kGroup
  const float* a = nullptr;
  int a_stride = 0;
  const float* b = nullptr;
  int b_stride = 0;
  float* c = nullptr;
  int c_stride = 0;
  Init init = Init::kZero;
  Finish finish = Finish::kNone;
  const float* bias = nullptr;        ///< [columns], for kBias
  const float* activation = nullptr;  ///< [rows, columns] at c_stride, for kLeakyGradient: c times LeakyReLU' there
};

struct Kernels {
  const char* name;
  /// A = a [rows, depth].
  void (*product)(const Product&);
  /// A = aᵀ, with a [depth, rows].
  void (*transposed_product)(const Product&);
};

/// The fastest set that this processor runs.
const Kernels& kernels();
/// The set of the processor that the whole program was compiled for, and the one for AVX-512 (null where the build or
/// the processor has none).
const Kernels& base_kernels();
const Kernels* avx512_kernels();

/// Products of numbers rounded to bfloat16, with sums in float32. a and b of a Product hold pairs in the place of
/// floats, the one of lower depth in the lower half, and its depth counts pairs. An element is still one chain over the
/// depth, the same in any batch; but how the processor adds a pair is its own affair, so the bits are not those of
/// another kind of processor.
struct Bf16Kernels {
  void (*product)(const Product&);
  /// row [count], floats, to pairs, where it stands; count: a multiple of kGroup.
  void (*round_row)(float* row, int count);
};

/// Null where the build or the processor has none.
const Bf16Kernels* bf16_kernels();

/// Whether the processor has the vector units that the compiler's x86-64-v4 stands for.
bool runs_x86_64_v4();

}  // namespace warptape::cpu
