#include "net/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace warptape {
namespace {

TEST(InitLinear, MapsTheUnitIntervalOntoTheBounds) {
  std::vector<float> numbers = {0.0f, 0.5f, 0.75f, 0.25f};
  std::size_t next = 0;
  std::vector<float> weight(3), bias(1);
  init_linear(weight, bias, 4, [&] { return numbers[next++]; });  // bound 1/√4
  EXPECT_EQ(weight, (std::vector<float>{-0.5f, 0.0f, 0.25f}));
  EXPECT_EQ(bias, std::vector<float>{-0.25f});
}

// PyTorch's Linear: kaiming_uniform, √3 · gain / √fan_in with gain = √(2/(1 + a²)), a = √5.
double pytorch_bound(int fan_in) {
  return std::sqrt(3.0) * std::sqrt(2.0 / (1.0 + 5.0)) / std::sqrt(fan_in);
}

TEST(InitNetwork, FillsEveryLayerUniformlyWithinItsBound) {
  const std::vector<TensorSpec> specs = dueling_tensors({54, 256, 256, 128, 128, 45});
  std::vector<float> flat(parameter_count(specs), 1e9f);
  std::mt19937 random(1);
  std::size_t draws = 0;
  init_network(specs, flat, [&] {
    ++draws;
    return static_cast<float>(random() >> 8) * 0x1p-24f;
  });
  EXPECT_EQ(draws, flat.size());

  const auto fan_in_of = [](const std::string& name) {
    if (name.starts_with("shared_0")) return 54;
    return name.ends_with("_out.weight") || name.ends_with("_out.bias") ? 128 : 256;
  };
  for (const TensorSpec& spec : specs) {
    const double bound = pytorch_bound(fan_in_of(spec.name));
    double sum = 0, squares = 0;
    for (std::int64_t i = spec.offset; i < spec.offset + spec.count; ++i) {
      ASSERT_LE(std::abs(flat[i]), bound * (1 + 1e-7)) << spec.name;  // the bound is rounded to float32
      sum += flat[i];
      squares += double{flat[i]} * flat[i];
    }
    // A uniform variable has mean 0 and variance bound²/3; their estimates from n draws deviate by bound/√(3n) and
    // by bound²·√(4/45)/√n. Five deviations, with a fixed seed.
    const double n = static_cast<double>(spec.count);
    EXPECT_LT(std::abs(sum / n), 5 * bound / std::sqrt(3 * n)) << spec.name;
    EXPECT_LT(std::abs(squares / n - bound * bound / 3), 5 * bound * bound * std::sqrt(4.0 / 45 / n)) << spec.name;
  }
}

TEST(InitNetwork, DrawsInTheOrderOfTheFlatArray) {
  const std::vector<TensorSpec> specs = curiosity_tensors(curiosity_shape(1, 4));  // [4, 4], [4], [1, 4], [1]
  std::vector<float> flat(25);
  float next = 0;
  init_network(specs, flat, [&] { return (next += 1.0f / 64) - 1.0f / 64; });
  // All layers have fan_in 4: element i is (2·i/64 − 1)/2, exact in float.
  for (int i = 0; i < 25; ++i) EXPECT_EQ(flat[i], static_cast<float>(i) / 64 - 0.5f);
}

}  // namespace
}  // namespace warptape
