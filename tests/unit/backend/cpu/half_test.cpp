// Products of numbers rounded to bfloat16, and collecting with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/cpu/kernels.h"
#include "core/hd.h"
#include "unit/backend/cpu/test_worlds.h"
#include "unit/io/temp_folder.h"
#include "warptape/backend.h"
#include "warptape/error.h"

namespace warptape::cpu {

namespace {

#define SKIP_WITHOUT_BF16() \
  if (bf16_kernels() == nullptr) GTEST_SKIP() << "this processor or build has no AVX-512 BF16"

/// The nearest float with 8 significant bits, of two the even one (the default rounding of nearbyint).
double rounded(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}
u32 upper_half(double x) {
  return std::bit_cast<u32>(static_cast<float>(rounded(x))) >> 16;
}

struct Sizes {
  int rows, columns, depth;
};

class Bf16Products : public ::testing::TestWithParam<Sizes> {};

TEST_P(Bf16Products, AreSumsOverRoundedOperands) {
  SKIP_WITHOUT_BF16();
  const auto [rows, columns, depth] = GetParam();
  const int pairs = (depth + 1) / 2, a_stride = pairs + 3, stride = columns + kGroup;
  cpu_test::Uniform uniform(5);
  const auto filled = [&](int n) {
    std::vector<double> out;
    for (int i = 0; i < n; ++i) out.push_back(rounded(double{uniform.around_zero(1)}));
    return out;
  };
  const std::vector<double> a = filled(rows * depth), b = filled(depth * columns), bias = filled(columns);
  std::vector<float> a_pairs(static_cast<std::size_t>(rows * a_stride), NAN);
  std::vector<float> b_pairs(static_cast<std::size_t>(pairs * stride), NAN);
  const auto put = [](std::vector<float>& to, int at, double low, double high) {
    to[static_cast<std::size_t>(at)] = std::bit_cast<float>(upper_half(low) | upper_half(high) << 16);
  };
  for (int k = 0; k < pairs; ++k) {
    const bool both = 2 * k + 1 < depth;
    for (int r = 0; r < rows; ++r) {
      const double* row = a.data() + r * depth + 2 * k;
      put(a_pairs, r * a_stride + k, row[0], both ? row[1] : 0);
    }
    for (int j = 0; j < columns; ++j) {
      const double* column = b.data() + 2 * k * columns + j;
      put(b_pairs, k * stride + j, column[0], both ? column[columns] : 0);
    }
  }
  std::vector<float> bias_floats(bias.begin(), bias.end());
  for (const Finish finish : {Finish::kNone, Finish::kLeaky, Finish::kLeakyHalf}) {
    std::vector<float> c(static_cast<std::size_t>(rows * stride), 12345.0f);
    Product p;
    p.rows = rows;
    p.columns = columns;
    p.depth = pairs;
    p.a = a_pairs.data();
    p.a_stride = a_stride;
    p.b = b_pairs.data();
    p.b_stride = stride;
    p.c = c.data();
    p.c_stride = stride;
    p.init = Init::kBias;
    p.bias = bias_floats.data();
    p.finish = finish;
    bf16_kernels()->product(p);
    for (int r = 0; r < rows; ++r) {
      for (int j = 0; j < columns; ++j) {
        double sum = bias[static_cast<std::size_t>(j)], size = std::fabs(sum);
        for (int k = 0; k < depth; ++k) {
          const double product =
              a[static_cast<std::size_t>(r * depth + k)] * b[static_cast<std::size_t>(k * columns + j)];
          sum += product;
          size += std::fabs(product);
        }
        // Two roundings of float32 a term at most; a result in bfloat16 is off by half of its last place besides.
        double tolerance = 2 * depth * 0x1p-24 * size;
        if (finish != Finish::kNone && sum < 0) sum *= 0.01;
        const float* row = c.data() + r * stride;
        double found = double{row[j]};
        if (finish == Finish::kLeakyHalf) {
          u16 bits = 0;
          std::memcpy(&bits, reinterpret_cast<const char*>(row) + 2 * j, sizeof bits);
          found = double{std::bit_cast<float>(u32{bits} << 16)};
          tolerance += 0x1p-8 * std::fabs(sum);
        }
        ASSERT_NEAR(found, sum, tolerance) << r << ", " << j << ", finish " << int(finish);
      }
      for (int j = columns; j < stride; ++j) ASSERT_EQ(c[static_cast<std::size_t>(r * stride + j)], 12345.0f);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Bf16Products,
                         ::testing::Values(Sizes{1, 16, 1}, Sizes{64, 256, 256}, Sizes{3, 32, 5}, Sizes{65, 16, 34},
                                           Sizes{7, 64, 257}, Sizes{13, 112, 1200}, Sizes{12, 96, 3}));

TEST(Bf16Rows, AreRoundedWhereTheyStand) {
  SKIP_WITHOUT_BF16();
  cpu_test::Uniform uniform(9);
  std::vector<float> row(48 + 16, 7.0f), was;
  for (int i = 0; i < 48; ++i) row[static_cast<std::size_t>(i)] = uniform.around_zero(3);
  was = row;
  bf16_kernels()->round_row(row.data(), 48);
  for (int i = 0; i < 48; ++i) {
    u16 bits = 0;
    std::memcpy(&bits, reinterpret_cast<const char*>(row.data()) + 2 * i, sizeof bits);
    ASSERT_EQ(bits, upper_half(double{was[static_cast<std::size_t>(i)]})) << i;
  }
  for (int i = 48; i < 64; ++i) ASSERT_EQ(row[static_cast<std::size_t>(i)], 7.0f);
}

class CollectingWithBf16 : public ::testing::Test {
 protected:
  static Config config(int threads) {
    Config c = cpu_test::small_config(RuleSet::kMarket, 67, 12);
    c.net = {48, 33, 17, 40, 8};  // odd ones too
    c.threads = threads;
    c.collect.precision = "bfloat16";
    return c;
  }
  static Experiences collect(const Config& c, std::vector<double>* online, std::vector<double>* target) {
    const auto backend = make_cpu_backend(c, cpu_test::random_dataset({60, 31}, 5, 4));
    backend->collect({1.0, {}});
    backend->learn({30, 0.01});
    if (online) *online = cpu_test::to_double(backend->weights(Network::kOnline));
    if (target) *target = cpu_test::to_double(backend->weights(Network::kTarget));
    backend->collect({0.5, {true, true, false}});
    return backend->download();
  }
};

TEST_F(CollectingWithBf16, QValuesAreNearThoseOfFloat64) {
  SKIP_WITHOUT_BF16();
  const Config c = config(1);
  const Dataset d = cpu_test::random_dataset({60, 31}, 5, 4);
  std::vector<double> online, target;
  const Experiences e = collect(c, &online, &target);
  double squares = 0, off = 0;
  bool differs = false;
  for (std::size_t i = 0; i < e.bar.size(); ++i) {
    const auto q = cpu_test::reference_q(cpu_test::widths_of(c, d), online,
                                         cpu_test::state_of(d, e.bar[i], e.portfolio.data() + 3 * i));
    const auto next = cpu_test::reference_q(cpu_test::widths_of(c, d), target,
                                            cpu_test::state_of(d, e.bar[i] + 1, e.next_portfolio.data() + 3 * i));
    const double wanted[] = {q[static_cast<std::size_t>(e.action[i])], *std::max_element(next.begin(), next.end())};
    const double found[] = {double{e.q_selected[i]}, double{e.target_q[i]}};
    for (int k = 0; k < 2; ++k) {
      squares += wanted[k] * wanted[k];
      off += (found[k] - wanted[k]) * (found[k] - wanted[k]);
      differs |= std::fabs(found[k] - wanted[k]) > 1e-5;
    }
  }
  // Each of three layers rounds both operands by up to 2^-9: about 1 % for sums that do not cancel.
  EXPECT_LT(std::sqrt(off / squares), 0.01);
  EXPECT_TRUE(differs) << "as good as float32: was it in use?";
}

TEST_F(CollectingWithBf16, IsTheSameForAnyNumberOfThreads) {
  SKIP_WITHOUT_BF16();
  const Experiences one = collect(config(1), nullptr, nullptr);
  for (const int threads : {2, 3}) {
    const Experiences more = collect(config(threads), nullptr, nullptr);
    EXPECT_EQ(more.action, one.action) << threads;
    EXPECT_EQ(more.reward, one.reward) << threads;
    EXPECT_EQ(more.target_q, one.target_q) << threads;
    EXPECT_EQ(more.td_error, one.td_error) << threads;
  }
}

TEST_F(CollectingWithBf16, IsRefusedWhereTheProcessorHasNone) {
  if (bf16_kernels() != nullptr) GTEST_SKIP() << "this processor has AVX-512 BF16";
  const std::string message = testing::message_of<Error>([] { collect(config(1), nullptr, nullptr); });
  EXPECT_NE(message.find("collect.precision"), std::string::npos) << message;
  EXPECT_NE(message.find("float32"), std::string::npos) << message;
}

}  // namespace

}  // namespace warptape::cpu
