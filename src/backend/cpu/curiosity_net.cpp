#include "backend/cpu/curiosity_net.h"

#include <algorithm>

namespace warptape::cpu {

// The model's one-hot input is the action tables' category.
static_assert(kCuriosityCategories == kCategories);

CuriosityActivations::CuriosityActivations(const CuriosityShape& s, int rows)
    : strides_{s.inputs,
               s.outputs,
               row_stride(s.hidden),
               row_stride(s.outputs),
               row_stride(s.hidden),
               row_stride(s.outputs)} {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    arrays_[i].resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(strides_[i]));
  }
}

CuriosityRows CuriosityActivations::at(int row) {
  const auto pointer = [&](std::size_t i) {
    return arrays_[i].data() + static_cast<std::ptrdiff_t>(row) * strides_[i];
  };
  return {pointer(0), pointer(1), pointer(2), pointer(3), pointer(4), pointer(5)};
}

CuriosityNet::CuriosityNet(const CuriosityShape& shape) : shape_(shape), layers_{} {
  layers_[0] = place_layer(curiosity_layer(shape, kCuriosityFc1), nullptr);
  layers_[1] = place_layer(curiosity_layer(shape, kCuriosityFc2), &layers_[0]);
}

void CuriosityNet::fill_row(const Market& market, i32 bar, Category category, int row, const CuriosityRows& act) const {
  float* input = act.input + static_cast<std::ptrdiff_t>(row) * shape_.inputs;
  std::copy_n(market.row(bar), shape_.outputs, input);
  std::fill_n(input + shape_.outputs, kCategories, 0.0f);
  input[shape_.outputs + static_cast<int>(category)] = 1.0f;
  std::copy_n(market.row(bar + 1), shape_.outputs, act.target + static_cast<std::ptrdiff_t>(row) * shape_.outputs);
}

void CuriosityNet::forward(const float* parameters, int rows, const CuriosityRows& act, float* errors) const {
  dense(layers_[0], parameters, rows, act.input, shape_.inputs, act.hidden, Finish::kLeaky);
  dense(layers_[1], parameters, rows, act.hidden, layers_[0].stride, act.prediction, Finish::kNone);
  for (int r = 0; r < rows; ++r) {
    const float* prediction = act.prediction + static_cast<std::ptrdiff_t>(r) * layers_[1].stride;
    const float* target = act.target + static_cast<std::ptrdiff_t>(r) * shape_.outputs;
    float sum = 0;
    for (int j = 0; j < shape_.outputs; ++j) {
      const float difference = prediction[j] - target[j];
      sum += difference * difference;
    }
    errors[r] = sum / static_cast<float>(shape_.outputs);
  }
}

void CuriosityNet::backward(const float* transposed, int rows, float weight, const CuriosityRows& act) const {
  const float scale = 2.0f * weight / static_cast<float>(shape_.outputs);
  for (int r = 0; r < rows; ++r) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(r) * layers_[1].stride;
    const float* target = act.target + static_cast<std::ptrdiff_t>(r) * shape_.outputs;
    for (int j = 0; j < shape_.outputs; ++j) act.d_prediction[at + j] = scale * (act.prediction[at + j] - target[j]);
  }
  dense_input_gradient(layers_[1], transposed, rows, act.d_prediction, false, act.hidden, act.d_hidden);
}

void CuriosityNet::gradient(int rows, const CuriosityRows& act, float* gradient) const {
  dense_gradient(layers_[0], 0, shape_.inputs, rows, act.input, shape_.inputs, act.d_hidden, false, gradient);
  dense_gradient(layers_[1], 0, shape_.hidden, rows, act.hidden, layers_[0].stride, act.d_prediction, false, gradient);
}

}  // namespace warptape::cpu
