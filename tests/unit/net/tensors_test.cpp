#include "net/tensors.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "env/actions.h"
#include "unit/io/temp_folder.h"
#include "warptape/error.h"

namespace warptape {
namespace {

using testing::message_of;

constexpr DuelingShape kDefault{54, 256, 256, 128, 128, 45};
constexpr DuelingShape kSmall{2, 3, 2, 1, 2, 3};

static_assert(kCuriosityCategories == kCategories);

using Named = std::vector<std::pair<std::string, Shape>>;

Named named(const std::vector<TensorSpec>& specs) {
  Named result;
  for (const TensorSpec& spec : specs) result.emplace_back(spec.name, spec.shape);
  return result;
}

void expect_no_holes(const std::vector<TensorSpec>& specs, std::int64_t total) {
  std::int64_t end = 0;
  for (const TensorSpec& spec : specs) {
    EXPECT_EQ(spec.offset, end) << spec.name;
    std::int64_t product = 1;
    for (const std::int64_t dimension : spec.shape) product *= dimension;
    EXPECT_EQ(spec.count, product) << spec.name;
    end += product;
  }
  EXPECT_EQ(end, total);
  EXPECT_EQ(parameter_count(specs), total);
}

// Section 5 of docs/domain.md.
TEST(DuelingTensors, HaveTheDocumentedNamesAndShapes) {
  EXPECT_EQ(named(dueling_tensors(kDefault)), (Named{{"shared_0.weight", {256, 54}},
                                                     {"shared_0.bias", {256}},
                                                     {"shared_1.weight", {256, 256}},
                                                     {"shared_1.bias", {256}},
                                                     {"value_fc.weight", {128, 256}},
                                                     {"value_fc.bias", {128}},
                                                     {"value_out.weight", {1, 128}},
                                                     {"value_out.bias", {1}},
                                                     {"advantage_fc.weight", {128, 256}},
                                                     {"advantage_fc.bias", {128}},
                                                     {"advantage_out.weight", {45, 128}},
                                                     {"advantage_out.bias", {45}}}));
}

TEST(CuriosityTensors, HaveTheDocumentedNamesAndShapes) {
  EXPECT_EQ(named(curiosity_tensors(curiosity_shape(51, 64))),
            (Named{{"fc1.weight", {64, 35}}, {"fc1.bias", {64}}, {"fc2.weight", {32, 64}}, {"fc2.bias", {32}}}));
}

TEST(NetworkTensors, LieWithoutHolesOrOverlaps) {
  // 54·256+256 + 256·256+256 + 256·128+128 + 128+1 + 256·128+128 + 128·45+45
  expect_no_holes(dueling_tensors(kDefault), 14080 + 65792 + 32896 + 129 + 32896 + 5805);
  // 2·3+3 + 3·2+2 + 2·1+1 + 1+1 + 2·2+2 + 2·3+3
  expect_no_holes(dueling_tensors(kSmall), 9 + 8 + 3 + 2 + 6 + 9);
  // 35·64+64 + 64·32+32
  expect_no_holes(curiosity_tensors(curiosity_shape(51, 64)), 2304 + 2080);
  static_assert(dueling_parameters(kDefault) == 151598);
  static_assert(curiosity_parameters(curiosity_shape(51, 64)) == 4384);
}

TEST(NetworkTensors, CountsPast32Bits) {
  // 100,000·100,000 weights in the trunk's second layer alone.
  static_assert(dueling_parameters({1, 100000, 100000, 1, 1, 1}) ==
                200000LL + 10000100000LL + 100001LL + 2LL + 100001LL + 2LL);
}

TEST(CuriosityShape, TakesAtMost32Columns) {
  const CuriosityShape wide = curiosity_shape(51, 64), narrow = curiosity_shape(5, 16);
  EXPECT_EQ(wide.inputs, 35);
  EXPECT_EQ(wide.outputs, 32);
  EXPECT_EQ(narrow.inputs, 8);
  EXPECT_EQ(narrow.hidden, 16);
  EXPECT_EQ(narrow.outputs, 5);
}

std::vector<float> counted(std::int64_t size) {
  std::vector<float> flat(size);
  std::iota(flat.begin(), flat.end(), 1.0f);
  return flat;
}

TEST(PutNetwork, CutsTheFlatArrayUp) {
  TensorMap tensors;
  put_network(tensors, "target.", dueling_tensors(kSmall), counted(37));
  EXPECT_EQ(tensors.size(), 12u);
  const auto weight = tensors.get<float>("target.shared_1.weight", {2, 3});  // behind 2·3 + 3 floats
  EXPECT_EQ(std::vector(weight.begin(), weight.end()), (std::vector<float>{10, 11, 12, 13, 14, 15}));
  const auto bias = tensors.get<float>("target.advantage_out.bias", {3});
  EXPECT_EQ(std::vector(bias.begin(), bias.end()), (std::vector<float>{35, 36, 37}));
}

TEST(TakeNetwork, GivesBackWhatWasPut) {
  TensorMap tensors;
  put_network(tensors, "", dueling_tensors(kSmall), counted(37));
  put_network(tensors, "curiosity.", curiosity_tensors(curiosity_shape(2, 2)), std::vector<float>(18, 0.5f));
  std::vector<float> flat(37);
  take_network(tensors, "", dueling_tensors(kSmall), flat, "'w'");
  EXPECT_EQ(flat, counted(37));
  std::vector<float> curiosity(18);  // 5·2+2 + 2·2+2
  take_network(tensors, "curiosity.", curiosity_tensors(curiosity_shape(2, 2)), curiosity, "'w'");
  EXPECT_EQ(curiosity, std::vector<float>(18, 0.5f));
}

TEST(TakeNetwork, ListsEverythingThatDoesNotFit) {
  TensorMap tensors;
  tensors.set<float>("shared_0.weight", {3, 4}, std::vector<float>(12));
  tensors.set<double>("shared_0.bias", {3}, std::vector<double>(3));
  tensors.set<float>("shared_1.weight", {2, 3}, std::vector<float>(6, 7.0f));
  std::vector<TensorSpec> specs = dueling_tensors(kSmall);
  specs.resize(4);  // the trunk
  std::vector<float> flat(17, 42.0f);
  EXPECT_EQ(message_of<Error>([&] { take_network(tensors, "", specs, flat, "'w.safetensors'"); }),
            "'w.safetensors': the weights do not fit the network:\n"
            "  shared_0.weight: expected F32 [3, 2], found F32 [3, 4]\n"
            "  shared_0.bias: expected F32 [3], found F64 [3]\n"
            "  shared_1.bias: missing, expected F32 [2]\n"
            "use weights of this network in float32, or set the net.* keys and the features to those that the weights "
            "were trained with");
  EXPECT_EQ(flat, std::vector<float>(17, 42.0f));
}

TEST(TakeNetwork, RefusesNumbersThatAreNotFinite) {
  std::vector<float> flat = counted(37);
  flat[12] = std::numeric_limits<float>::quiet_NaN();  // the fourth of shared_1.weight
  TensorMap tensors;
  put_network(tensors, "target.", dueling_tensors(kSmall), flat);
  std::vector<float> taken(37, 42.0f);
  const std::string message =
      message_of<Error>([&] { take_network(tensors, "target.", dueling_tensors(kSmall), taken, "'w'"); });
  EXPECT_NE(message.find("'w': tensor 'target.shared_1.weight': element 3 is nan"), std::string::npos) << message;
  EXPECT_EQ(taken, std::vector<float>(37, 42.0f));
}

// Values of torch.nn.functional.leaky_relu(x, 0.01) and its gradient.
TEST(LeakyRelu, IsPyTorchs) {
  EXPECT_EQ(leaky_relu(2.0f), 2.0f);
  EXPECT_EQ(leaky_relu(0.0f), 0.0f);
  EXPECT_FLOAT_EQ(leaky_relu(-3.0f), -0.03f);
  EXPECT_EQ(leaky_relu_derivative(2.0f), 1.0f);
  EXPECT_EQ(leaky_relu_derivative(0.0f), 0.01f);
  EXPECT_EQ(leaky_relu_derivative(-3.0f), 0.01f);
}

TEST(Combine, AddsTheValueToTheCentredAdvantages) {
  float q[] = {1, 2, 6};  // mean 3, exact in float
  combine_all(2.0f, q, 3, q);
  EXPECT_EQ(q[0], 0.0f);
  EXPECT_EQ(q[1], 1.0f);
  EXPECT_EQ(q[2], 5.0f);
}

TEST(Combine, AMeanOverAllActionsIsTheValue) {
  // Σ(V + A − mean A)/n = V. The mean's 45 additions stay below 8, each rounded by at most 2⁻²², the sum by 45·2⁻²²,
  // the mean by 2⁻²²; two roundings an action add 2⁻²² at most: below 2⁻²⁰ in all.
  float advantage[45], q[45];
  for (int a = 0; a < 45; ++a) advantage[a] = 0.37f * static_cast<float>(a % 7) - 1.0f;
  combine_all(0.25f, advantage, 45, q);
  double sum = 0;
  for (const float each : q) sum += each;
  EXPECT_NEAR(sum / 45, 0.25, 0x1p-20);
}

}  // namespace
}  // namespace warptape
