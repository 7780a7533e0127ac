#include "backend/cpu/dueling_net.h"

#include <algorithm>

#include "learn/td.h"

namespace warptape::cpu {

namespace {

std::array<int, 6> strides(const DuelingShape& s) {
  return {row_stride(s.shared_0),  row_stride(s.shared_1), row_stride(s.value),
          row_stride(s.advantage), row_stride(1),          row_stride(s.actions)};
}

}  // namespace

DuelingActivations::DuelingActivations(const DuelingShape& shape, int rows) : strides_(strides(shape)) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    arrays_[i].resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(strides_[i]));
  }
}

DuelingRows DuelingActivations::at(int row) {
  const auto pointer = [&](std::size_t i) {
    return arrays_[i].data() + static_cast<std::ptrdiff_t>(row) * strides_[i];
  };
  return {pointer(0), pointer(1), pointer(2), pointer(3), pointer(4), pointer(5)};
}

DuelingNet::DuelingNet(const DuelingShape& shape) : shape_(shape), layers_{} {
  for (int i = 0; i < kDuelingLayers; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    layers_[at] = place_layer(dueling_layer(shape, i), i > 0 ? &layers_[at - 1] : nullptr);
  }
}

void DuelingNet::forward(const float* parameters, int rows, const float* x, const DuelingRows& act) const {
  first_layer(parameters, rows, x, act);
  second_layer(parameters, rows, act);
  value_stream(parameters, rows, act);
  advantage_stream(parameters, rows, act);
}

void DuelingNet::first_layer(const float* parameters, int rows, const float* x, const DuelingRows& act) const {
  dense(layers_[kShared0], parameters, rows, x, shape_.state, act.hidden_0, Finish::kLeaky);
}

void DuelingNet::second_layer(const float* parameters, int rows, const DuelingRows& act) const {
  dense(layers_[kShared1], parameters, rows, act.hidden_0, layers_[kShared0].stride, act.hidden_1, Finish::kLeaky);
}

void DuelingNet::value_stream(const float* parameters, int rows, const DuelingRows& act) const {
  dense(layers_[kValueFc], parameters, rows, act.hidden_1, layers_[kShared1].stride, act.value_hidden, Finish::kLeaky);
  dense(layers_[kValueOut], parameters, rows, act.value_hidden, layers_[kValueFc].stride, act.value, Finish::kNone);
}

void DuelingNet::advantage_stream(const float* parameters, int rows, const DuelingRows& act) const {
  dense(layers_[kAdvantageFc], parameters, rows, act.hidden_1, layers_[kShared1].stride, act.advantage_hidden,
        Finish::kLeaky);
  dense(layers_[kAdvantageOut], parameters, rows, act.advantage_hidden, layers_[kAdvantageFc].stride, act.advantage,
        Finish::kNone);
}

int DuelingNet::greedy(const DuelingRows& act, int row) const {
  return argmax(act.advantage + static_cast<std::ptrdiff_t>(row) * action_stride(), shape_.actions);
}

float DuelingNet::q(const DuelingRows& act, int row, int action) const {
  const float* advantage = act.advantage + static_cast<std::ptrdiff_t>(row) * action_stride();
  return combine(act.value[static_cast<std::ptrdiff_t>(row) * value_stride()], advantage[action],
                 mean_advantage(advantage, shape_.actions));
}

void DuelingNet::head_gradient(int row, int action, float dq, const DuelingRows& d) const {
  // Q = V + A − mean A.
  d.value[static_cast<std::ptrdiff_t>(row) * value_stride()] = dq;
  float* advantage = d.advantage + static_cast<std::ptrdiff_t>(row) * action_stride();
  std::fill(advantage, advantage + shape_.actions, -dq / static_cast<float>(shape_.actions));
  advantage[action] += dq;
}

void DuelingNet::backward(const float* transposed, int rows, const DuelingRows& act, const DuelingRows& d) const {
  dense_input_gradient(layers_[kAdvantageOut], transposed, rows, d.advantage, false, act.advantage_hidden,
                       d.advantage_hidden);
  dense_input_gradient(layers_[kValueOut], transposed, rows, d.value, false, act.value_hidden, d.value_hidden);
  dense_input_gradient(layers_[kAdvantageFc], transposed, rows, d.advantage_hidden, false, nullptr, d.hidden_1);
  dense_input_gradient(layers_[kValueFc], transposed, rows, d.value_hidden, true, act.hidden_1, d.hidden_1);
  dense_input_gradient(layers_[kShared1], transposed, rows, d.hidden_1, false, act.hidden_0, d.hidden_0);
}

void DuelingNet::gradient_block(const LayerBlock& block, int rows, const float* x, const DuelingRows& act,
                                const DuelingRows& d, bool accumulate, float* gradient) const {
  const float* inputs[] = {x, act.hidden_0, act.hidden_1, act.value_hidden, act.hidden_1, act.advantage_hidden};
  const float* slopes[] = {d.hidden_0, d.hidden_1, d.value_hidden, d.value, d.advantage_hidden, d.advantage};
  const DenseLayer& layer = layers_[static_cast<std::size_t>(block.layer)];
  const int x_stride = block.layer == kShared0 ? shape_.state : layer.input_stride;
  dense_gradient(layer, block.first, block.count, rows, inputs[block.layer], x_stride, slopes[block.layer], accumulate,
                 gradient);
}

}  // namespace warptape::cpu
