// What the networks share: how a dense layer lies in a flat array of parameters, and the activation.
#pragma once

#include "core/hd.h"

namespace warptape {

/// One dense layer, y = weight·x + bias. The offsets count floats from the start of the network's parameters.
struct Layer {
  int in, out;
  i64 weight;  // [out, in] row-major
  i64 bias;    // [out], right behind the weight
};

HD constexpr i64 layer_parameters(int in, int out) {
  return i64{out} * in + out;
}

/// Layer `index` of those that lie one after another, given the widths of all.
HD constexpr Layer layer_at(const int* in, const int* out, int index) {
  i64 offset = 0;
  for (int i = 0; i < index; ++i) offset += layer_parameters(in[i], out[i]);
  return {in[index], out[index], offset, offset + i64{out[index]} * in[index]};
}

inline constexpr float kLeakySlope = 0.01f;

HD constexpr float leaky_relu(float x) {
  return x > 0.0f ? x : kLeakySlope * x;
}

/// d leaky_relu / dx at the input x; at 0 the slope, as PyTorch has it. The output's sign is the input's, so the
/// output may be given instead.
HD constexpr float leaky_relu_derivative(float x) {
  return x > 0.0f ? 1.0f : kLeakySlope;
}

}  // namespace warptape
