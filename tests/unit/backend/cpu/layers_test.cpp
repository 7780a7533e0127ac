// Products and layers against plain loops, and the layout of weights.
#include "backend/cpu/layers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "backend/cpu/greedy_policy.h"
#include "backend/cpu/product.h"
#include "unit/backend/cpu/test_worlds.h"

extern "C" void omp_set_num_threads(int threads);

namespace warptape::cpu {

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  cpu_test::Uniform uniform(seed);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(uniform.around_zero(1));
  return out;
}

struct Sizes {
  int m, n, k;
};

class CpuProducts : public ::testing::TestWithParam<Sizes> {
 protected:
  /// c[i, j] = Σ_l a(i, l)·b(l, j) + beta·start in float64.
  template <typename A, typename B>
  void expect_product(const std::vector<float>& c, float beta, const std::vector<float>& start, A a, B b) const {
    const auto [m, n, k] = GetParam();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const std::size_t at = static_cast<std::size_t>(i * n + j);
        double sum = static_cast<double>(beta) * start[at];
        for (int l = 0; l < k; ++l) sum += static_cast<double>(a(i, l)) * b(l, j);
        // k products of numbers below 1, each sum rounded to float32: 6e-8 a term.
        ASSERT_NEAR(c[at], sum, 6e-8 * (k + 2)) << i << ", " << j;
      }
    }
  }
};

TEST_P(CpuProducts, AgreeWithPlainLoops) {
  const auto [m, n, k] = GetParam();
  const auto size = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
  const std::vector<float> a = random_floats(size(m, k), 1), b = random_floats(size(k, n), 2);
  const std::vector<float> start = random_floats(size(m, n), 3);
  const auto at = [](const std::vector<float>& x, int row, int columns, int column) {
    return x[static_cast<std::size_t>(row * columns + column)];
  };
  for (const float beta : {0.0f, 1.0f}) {
    std::vector<float> c = start;
    product(m, n, k, a.data(), b.data(), c.data(), beta);
    expect_product(
        c, beta, start, [&](int i, int l) { return at(a, i, k, l); }, [&](int l, int j) { return at(b, l, n, j); });
    c = start;
    product_by_transposed(m, n, k, a.data(), b.data(), c.data(), beta);  // b read as [n, k]
    expect_product(
        c, beta, start, [&](int i, int l) { return at(a, i, k, l); }, [&](int l, int j) { return at(b, j, k, l); });
    c = start;
    transposed_product(m, n, k, a.data(), b.data(), c.data(), beta);  // a read as [k, m]
    expect_product(
        c, beta, start, [&](int i, int l) { return at(a, l, m, i); }, [&](int l, int j) { return at(b, l, n, j); });
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CpuProducts,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{1, 45, 128}, Sizes{64, 256, 54}, Sizes{3, 7, 5},
                                           Sizes{65, 1, 33}, Sizes{17, 48, 1}));

TEST(CpuLayers, DenseReadsWeightsInThenOut) {
  // Two inputs, three outputs.
  const DenseLayer layer{2, 3, 1, 7};
  const std::vector<float> parameters = {99, 1, 2, 3, 10, 20, 30, 0.5f, -0.5f, -100};
  const std::vector<float> x = {1, 2, -1, 0};
  std::vector<float> y(6);
  dense(layer, parameters.data(), 2, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{21.5f, 41.5f, -37, -0.5f, -2.5f, -103}));
  dense_leaky(layer, parameters.data(), 2, x.data(), y.data());
  const std::vector<float> leaky = {21.5f, 41.5f, -0.37f, -0.005f, -0.025f, -1.03f};
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], leaky[i]) << i;
}

TEST(CpuLayers, GradientsOfOneLayerByHand) {
  const DenseLayer layer{2, 3, 1, 7};
  const std::vector<float> parameters = {99, 1, 2, 3, 10, 20, 30, 0, 0, 0};
  const std::vector<float> x = {1, 2, -1, 0}, dy = {1, 0, 2, -1, 3, 0};
  std::vector<float> gradient(10, 7.0f);
  dense_gradient(layer, 2, x.data(), dy.data(), gradient.data());
  EXPECT_EQ(gradient, (std::vector<float>{7, 2, -3, 2, 2, 0, 4, 0, 3, 2}));  // written =, the first float left alone
  std::vector<float> dx = {1, 1, 1, 1};
  dense_input_gradient(layer, parameters.data(), 2, dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<float>{7, 70, 5, 50}));
  dense_input_gradient(layer, parameters.data(), 2, dy.data(), dx.data(), 1.0f);
  EXPECT_EQ(dx, (std::vector<float>{14, 140, 10, 100}));
}

TEST(CpuLayers, LeakyGradientIsTheSlopeAtAndBelowZero) {
  const std::vector<float> y = {2, -2, 0};
  std::vector<float> dy = {3, 3, 3};
  leaky_gradient(3, y.data(), dy.data());
  EXPECT_EQ(dy, (std::vector<float>{3, 0.03f, 0.03f}));
}

TEST(CpuLayers, FilesHoldWeightsOutThenIn) {
  const std::vector<DenseLayer> layers = {{2, 3, 0, 6}, {3, 1, 9, 12}};
  const std::vector<float> files = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};  // [3, 2], [3], [1, 3], [1]
  std::vector<float> in(13), back(13);
  transpose_layers(layers, false, files, in);
  EXPECT_EQ(in, (std::vector<float>{1, 3, 5, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13}));
  transpose_layers(layers, true, in, back);
  EXPECT_EQ(back, files);
}

TEST(CpuLayers, ProductsDoNotDependOnTheCallersOpenMpThreads) {
  // oneDNN splits a long sum over a team of threads when it may, and then the bits change. A back-test's rows go
  // through one by one, without a thread pool.
  const std::vector<float> a = random_floats(1024, 1), b = random_floats(1024 * 45, 2);
  std::vector<float> one(45), four(45);
  omp_set_num_threads(1);
  product(1, 45, 1024, a.data(), b.data(), one.data());
  omp_set_num_threads(4);
  product(1, 45, 1024, a.data(), b.data(), four.data());
  omp_set_num_threads(1);
  EXPECT_EQ(std::memcmp(one.data(), four.data(), sizeof(float) * one.size()), 0);
}

TEST(CpuGreedyPolicy, TakesFilesWeightsAndPrefersTheLowestIndexOfATie) {
  const DuelingShape shape = {5, 2, 2, 2, 2, 3};
  const DuelingNet net(shape);
  std::vector<float> weights(net.parameter_count());
  const std::vector<float> market = {0, 0, 3, -3};
  GreedyPolicy even(shape, weights, {market.data(), 2});
  EXPECT_EQ(even.act(0, {{1, 0, 0}}), 0);
  // Action 2 likes the second market column, through the shared layers' second units.
  const auto set = [&](int layer, int out, int in, float value) {
    const DenseLayer& l = net.layers()[static_cast<std::size_t>(layer)];
    weights[l.weight + static_cast<std::size_t>(out * l.in + in)] = value;
  };
  set(kShared0, 1, 1, 1);
  set(kShared1, 1, 1, 1);
  set(kAdvantageFc, 1, 1, 1);
  set(kAdvantageOut, 2, 1, 1);
  std::vector<float> raised = market;
  raised[1] = 3;
  GreedyPolicy policy(shape, weights, {raised.data(), 2});
  EXPECT_EQ(policy.act(0, {{1, 0, 0}}), 2);  // column 3: Q of action 2 is the highest
  EXPECT_EQ(policy.act(1, {{1, 0, 0}}), 0);  // column −3: it is the lowest, 0 and 1 tie
  const std::vector<float> none = {0, 0, 0, 0};
  GreedyPolicy indifferent(shape, weights, {none.data(), 2});
  EXPECT_EQ(indifferent.act(0, {{1, 0, 0}}), 0);
}

}  // namespace

}  // namespace warptape::cpu
