// The kernels against one chain of std::fma an element, bit for bit: for every set that this processor runs, at odd
// sizes, beside guarded and poisoned memory.
#include "backend/cpu/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "unit/backend/cpu/test_worlds.h"

namespace warptape::cpu {

namespace {

constexpr float kGuard = 12345.678f;

std::vector<const Kernels*> all_sets() {
  std::vector<const Kernels*> sets = {&base_kernels()};
  if (avx512_kernels() != nullptr) sets.push_back(avx512_kernels());
  return sets;
}

struct Sizes {
  int rows, columns, depth;
};

/// The operands of one product; strides leave gaps, which hold NaN in what is read and a guard in what is written.
struct Operands {
  Operands(const Sizes& s, bool transposed)
      : a_rows(transposed ? s.depth : s.rows),
        a_stride((transposed ? s.rows : s.depth) + 3),
        stride(s.columns + kGroup),
        a(filled(a_rows, transposed ? s.rows : s.depth, a_stride, 1)),
        b(filled(s.depth, s.columns, stride, 2)),
        bias(filled(1, s.columns, stride, 3)),
        activation(filled(s.rows, s.columns, stride, 4)),
        start(filled(s.rows, s.columns, stride, 5)) {
    for (int r = 0; r < s.rows; ++r) {
      for (int j = s.columns; j < stride; ++j) start[static_cast<std::size_t>(r * stride + j)] = kGuard;
    }
    start.resize(start.size() + 64, kGuard);
  }

  static std::vector<float> filled(int rows, int columns, int stride, std::uint64_t seed) {
    cpu_test::Uniform uniform(seed);
    std::vector<float> out(static_cast<std::size_t>(rows * stride), std::numeric_limits<float>::quiet_NaN());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        out[static_cast<std::size_t>(r * stride + c)] = static_cast<float>(uniform.around_zero(1));
      }
    }
    return out;
  }

  int a_rows, a_stride, stride;
  std::vector<float> a, b, bias, activation, start;
};

class CpuKernels : public ::testing::TestWithParam<Sizes> {
 protected:
  static Product product_of(const Sizes& s, const Operands& o, Init init, Finish finish, std::vector<float>& c) {
    Product p;
    p.rows = s.rows;
    p.columns = s.columns;
    p.depth = s.depth;
    p.a = o.a.data();
    p.a_stride = o.a_stride;
    p.b = o.b.data();
    p.b_stride = o.stride;
    p.c = c.data();
    p.c_stride = o.stride;
    p.init = init;
    p.finish = finish;
    p.bias = o.bias.data();
    p.activation = o.activation.data();
    return p;
  }

  /// The same by the definition.
  static std::vector<float> expected(const Sizes& s, const Operands& o, bool transposed, Init init, Finish finish) {
    std::vector<float> c = o.start;
    for (int r = 0; r < s.rows; ++r) {
      for (int j = 0; j < s.columns; ++j) {
        const std::size_t at = static_cast<std::size_t>(r * o.stride + j);
        float sum = init == Init::kBias ? o.bias[static_cast<std::size_t>(j)] : init == Init::kZero ? 0.0f : c[at];
        for (int k = 0; k < s.depth; ++k) {
          const int a = transposed ? k * o.a_stride + r : r * o.a_stride + k;
          sum = std::fma(o.a[static_cast<std::size_t>(a)], o.b[static_cast<std::size_t>(k * o.stride + j)], sum);
        }
        const bool slope = finish == Finish::kLeaky           ? !(sum > 0)
                           : finish == Finish::kLeakyGradient ? !(o.activation[at] > 0)
                                                              : false;
        c[at] = slope ? 0.01f * sum : sum;
      }
    }
    return c;
  }
};

TEST_P(CpuKernels, AreOneChainOfFusedMultiplyAdds) {
  for (const bool transposed : {false, true}) {
    const Operands operands(GetParam(), transposed);
    for (const Init init : {Init::kBias, Init::kZero, Init::kAccumulate}) {
      for (const Finish finish : {Finish::kNone, Finish::kLeaky, Finish::kLeakyGradient}) {
        const std::vector<float> wanted = expected(GetParam(), operands, transposed, init, finish);
        for (const Kernels* set : all_sets()) {
          std::vector<float> c = operands.start;
          const Product p = product_of(GetParam(), operands, init, finish, c);
          (transposed ? set->transposed_product : set->product)(p);
          ASSERT_EQ(std::memcmp(c.data(), wanted.data(), c.size() * sizeof(float)), 0)
              << set->name << (transposed ? " transposed" : "") << ", start " << int(init) << ", end " << int(finish);
        }
      }
    }
  }
}

// One element's worth; every remainder of the blocks' rows and vectors; depths that are cut in two, and none.
INSTANTIATE_TEST_SUITE_P(Sizes, CpuKernels,
                         ::testing::Values(Sizes{1, 16, 1}, Sizes{64, 256, 54}, Sizes{3, 32, 5}, Sizes{65, 16, 33},
                                           Sizes{17, 48, 1}, Sizes{7, 64, 257}, Sizes{13, 112, 600}, Sizes{5, 80, 256},
                                           Sizes{2, 16, 0}, Sizes{12, 96, 3}));

TEST(CpuKernelSets, TheBestIsOneOfThem) {
  const std::vector<const Kernels*> sets = all_sets();
  EXPECT_STREQ(kernels().name, sets.back()->name);
}

TEST(CpuKernelSets, RowsAndColumnsArePadded) {
  EXPECT_EQ(padded(1), 16);
  EXPECT_EQ(padded(45), 48);
  EXPECT_EQ(padded(256), 256);
  EXPECT_EQ(row_stride(1), 16);
  EXPECT_EQ(row_stride(45), 48);
  EXPECT_EQ(row_stride(128), 144);
  EXPECT_EQ(row_stride(256), 272);
}

}  // namespace

}  // namespace warptape::cpu
