#include "backend/cpu/half_layers.h"

#include <algorithm>
#include <bit>

#include "core/bf16.h"
#include "warptape/error.h"

namespace warptape::cpu {

namespace {

u32 half(float x) {
  return bf16_bits(std::bit_cast<u32>(x));
}

}  // namespace

HalfLayers::HalfLayers(const DuelingNet& net) : layers_{} {
  if (bf16_kernels() == nullptr) {
    fail(
        "collect.precision = \"bfloat16\" needs a processor with AVX-512 BF16, which this one is not; "
        "set it to \"float32\"");
  }
  for (std::size_t l = kShared1; l < kDuelingLayers; ++l) {
    layers_[l] = net.layers()[l];
    const std::size_t stride = static_cast<std::size_t>(layers_[l].stride);
    weights_[l].resize(static_cast<std::size_t>((layers_[l].in + 1) / 2) * stride);
    biases_[l].resize(stride);
  }
}

void HalfLayers::refresh(const float* parameters) {
  for (std::size_t l = kShared1; l < kDuelingLayers; ++l) {
    const DenseLayer& layer = layers_[l];
    const std::size_t stride = static_cast<std::size_t>(layer.stride);
    const float* weights = parameters + layer.weight;
    for (std::size_t k = 0; k < static_cast<std::size_t>(layer.in); k += 2) {
      const bool both = k + 1 < static_cast<std::size_t>(layer.in);
      for (std::size_t j = 0; j < stride; ++j) {
        const u32 second = both ? half(weights[(k + 1) * stride + j]) : 0;
        weights_[l][k / 2 * stride + j] = std::bit_cast<float>(half(weights[k * stride + j]) | second << 16);
      }
    }
    std::copy_n(parameters + layer.bias, stride, biases_[l].begin());
  }
}

void HalfLayers::second_layer(int rows, const DuelingRows& act) const {
  const int inputs = padded(layers_[kShared1].in), stride = layers_[kShared1].input_stride;
  for (int r = 0; r < rows; ++r) {
    bf16_kernels()->round_row(act.hidden_0 + static_cast<std::ptrdiff_t>(r) * stride, inputs);
  }
  dense(kShared1, rows, act.hidden_0, stride, act.hidden_1, Finish::kLeakyHalf);
}

void HalfLayers::value_stream(int rows, const DuelingRows& act) const {
  dense(kValueFc, rows, act.hidden_1, layers_[kValueFc].input_stride, act.value_hidden, Finish::kLeakyHalf);
  dense(kValueOut, rows, act.value_hidden, layers_[kValueOut].input_stride, act.value, Finish::kNone);
}

void HalfLayers::advantage_stream(int rows, const DuelingRows& act) const {
  dense(kAdvantageFc, rows, act.hidden_1, layers_[kAdvantageFc].input_stride, act.advantage_hidden, Finish::kLeakyHalf);
  dense(kAdvantageOut, rows, act.advantage_hidden, layers_[kAdvantageOut].input_stride, act.advantage, Finish::kNone);
}

void HalfLayers::dense(int layer, int rows, const float* x, int x_stride, float* y, Finish finish) const {
  const std::size_t l = static_cast<std::size_t>(layer);
  Product p;
  p.rows = rows;
  p.columns = padded(layers_[l].out);
  p.b_stride = p.c_stride = layers_[l].stride;
  p.depth = (layers_[l].in + 1) / 2;
  p.a = x;
  p.a_stride = x_stride;
  p.b = weights_[l].data();
  p.c = y;
  p.init = Init::kBias;
  p.bias = biases_[l].data();
  p.finish = finish;
  bf16_kernels()->product(p);
}

}  // namespace warptape::cpu
