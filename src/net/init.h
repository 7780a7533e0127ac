// Initial weights as PyTorch's Linear has them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "net/tensors.h"

namespace warptape {

/// Uniform numbers in [0, 1), one a call.
using Uniform01 = std::function<float()>;

/// Fills weight [out, in], then bias [out], uniformly within ±1/√fan_in: PyTorch's kaiming_uniform with a = √5 (gain
/// √(1/3), times √3/√fan_in) and its bias alike. One number is drawn per element, in order.
void init_linear(std::span<float> weight, std::span<float> bias, int fan_in, const Uniform01& uniform01);

/// The same for each layer of a network in turn; `specs` as dueling_tensors and curiosity_tensors make them.
void init_network(const std::vector<TensorSpec>& specs, std::span<float> flat, const Uniform01& uniform01);

}  // namespace warptape
