// Layers by hand, and the layout of weights.
#include "backend/cpu/layers.h"

#include <gtest/gtest.h>

#include <vector>

#include "backend/cpu/dueling_net.h"
#include "backend/cpu/greedy_policy.h"

namespace warptape::cpu {

namespace {

/// Two inputs, three outputs, at the beginning of the flat arrays: weight [2, 16], bias [16].
DenseLayer small_layer() {
  return place_layer({2, 3, 0, 6}, nullptr);
}

/// Row by row what the first `columns` of each row of `stride` floats hold; the rest must be 0.
std::vector<float> unpadded(const std::vector<float>& x, std::size_t columns, std::size_t stride) {
  std::vector<float> out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % stride < columns)
      out.push_back(x[i]);
    else
      EXPECT_EQ(x[i], 0) << i;
  }
  return out;
}

/// The layer's parameters in the backend's layout, from files' order.
std::vector<float> parameters_of(const DenseLayer& layer, const std::vector<float>& files) {
  std::vector<float> out(layer.end());
  transpose_layers({&layer, 1}, false, files, out);
  return out;
}

TEST(CpuLayers, DenseByHand) {
  const DenseLayer layer = small_layer();
  const std::vector<float> parameters = parameters_of(layer, {1, 10, 2, 20, 3, 30, 0.5f, -0.5f, -100});
  const std::vector<float> x = {1, 2, -1, 0};
  std::vector<float> y(32);
  dense(layer, parameters.data(), 2, x.data(), 2, y.data(), Finish::kNone);
  EXPECT_EQ(unpadded(y, 3, 16), (std::vector<float>{21.5f, 41.5f, -37, -0.5f, -2.5f, -103}));
  dense(layer, parameters.data(), 2, x.data(), 2, y.data(), Finish::kLeaky);
  const std::vector<float> leaky = {21.5f, 41.5f, -0.37f, -0.005f, -0.025f, -1.03f};
  const std::vector<float> got = unpadded(y, 3, 16);
  for (std::size_t i = 0; i < leaky.size(); ++i) EXPECT_FLOAT_EQ(got[i], leaky[i]) << i;
}

TEST(CpuLayers, GradientsOfOneLayerByHand) {
  const DenseLayer layer = small_layer();
  const std::vector<float> parameters = parameters_of(layer, {1, 10, 2, 20, 3, 30, 0, 0, 0});
  const std::vector<float> x = {1, 2, -1, 0};
  std::vector<float> dy(32);
  const std::vector<float> slopes = {1, 0, 2, -1, 3, 0};
  for (std::size_t i = 0; i < 6; ++i) dy[i / 3 * 16 + i % 3] = slopes[i];
  const std::vector<float> by_hand = {2, -3, 2, 2, 0, 4, 0, 3, 2};  // weight [2, 3], bias [3]
  std::vector<float> gradient(layer.end(), 7.0f);
  dense_gradient(layer, 0, 2, 2, x.data(), 2, dy.data(), false, gradient.data());
  EXPECT_EQ(unpadded(gradient, 3, 16), by_hand);
  // In two blocks of inputs, added to what is there.
  dense_gradient(layer, 0, 1, 2, x.data(), 2, dy.data(), true, gradient.data());
  dense_gradient(layer, 1, 1, 2, x.data(), 2, dy.data(), true, gradient.data());
  std::vector<float> twice = by_hand;
  for (float& g : twice) g *= 2;
  EXPECT_EQ(unpadded(gradient, 3, 16), twice);

  std::vector<float> transposed(layer.transposed_end());
  transpose_weights(layer, 0, 2, parameters.data(), transposed.data());
  EXPECT_EQ(unpadded(transposed, 2, 16), (std::vector<float>{1, 10, 2, 20, 3, 30}));
  std::vector<float> dx(32);
  dense_input_gradient(layer, transposed.data(), 2, dy.data(), false, nullptr, dx.data());
  EXPECT_EQ(unpadded(dx, 2, 16), (std::vector<float>{7, 70, 5, 50}));
  dense_input_gradient(layer, transposed.data(), 2, dy.data(), true, nullptr, dx.data());
  EXPECT_EQ(unpadded(dx, 2, 16), (std::vector<float>{14, 140, 10, 100}));
  // LeakyReLU' at 2, -2, 0, 1: the slope at and below zero.
  std::vector<float> activation(32);
  activation[0] = 2;
  activation[1] = -2;
  activation[17] = 1;
  dense_input_gradient(layer, transposed.data(), 2, dy.data(), false, activation.data(), dx.data());
  const std::vector<float> expected = {7, 0.7f, 0.05f, 50}, got = unpadded(dx, 2, 16);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(got[i], expected[i]) << i;
}

TEST(CpuLayers, FilesHoldWeightsOutThenIn) {
  std::vector<DenseLayer> layers = {place_layer({2, 3, 0, 6}, nullptr)};
  layers.push_back(place_layer({3, 1, 9, 12}, &layers[0]));
  const std::vector<float> files = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};  // [3, 2], [3], [1, 3], [1]
  std::vector<float> in(layers[1].end()), back(13);
  transpose_layers(layers, false, files, in);
  const std::vector<float> first(in.begin(), in.begin() + 48), second(in.begin() + 48, in.end());
  EXPECT_EQ(unpadded(first, 3, 16), (std::vector<float>{1, 3, 5, 2, 4, 6, 7, 8, 9}));
  EXPECT_EQ(unpadded(second, 1, 16), (std::vector<float>{10, 11, 12, 13}));
  transpose_layers(layers, true, in, back);
  EXPECT_EQ(back, files);
}

TEST(CpuLayers, BlocksCoverEveryParameterOnce) {
  std::vector<DenseLayer> layers = {place_layer({70, 3, 0, 210}, nullptr)};
  layers.push_back(place_layer({3, 20, 213, 273}, &layers[0]));
  const std::vector<LayerBlock> blocks = layer_blocks(layers, 32);
  ASSERT_EQ(blocks.size(), 4u);
  std::size_t at = 0;
  for (const LayerBlock& block : blocks) {
    EXPECT_EQ(block.begin, at);
    at = block.end;
  }
  EXPECT_EQ(at, layers[1].end());
  EXPECT_EQ(blocks[2].first, 64);
  EXPECT_EQ(blocks[2].count, 6);
  EXPECT_EQ(blocks[3].layer, 1);
}

TEST(CpuGreedyPolicy, TakesFilesWeightsAndPrefersTheLowestIndexOfATie) {
  const DuelingShape shape = {5, 2, 2, 2, 2, 3};
  const DuelingNet net(shape);
  std::vector<float> weights(static_cast<std::size_t>(dueling_parameters(shape)));
  const std::vector<float> market = {0, 0, 3, -3};
  GreedyPolicy even(shape, weights, {market.data(), 2});
  EXPECT_EQ(even.act(0, {{1, 0, 0}}), 0);
  // Action 2 likes the second market column, through the shared layers' second units.
  const auto set = [&](int layer, int out, int in, float value) {
    const DenseLayer& l = net.layers()[static_cast<std::size_t>(layer)];
    weights[static_cast<std::size_t>(l.file.weight) + static_cast<std::size_t>(out * l.in + in)] = value;
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
