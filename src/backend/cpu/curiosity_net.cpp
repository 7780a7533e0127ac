#include "backend/cpu/curiosity_net.h"

namespace warptape::cpu {

// The model's one-hot input is the action tables' category.
static_assert(kCuriosityCategories == kCategories);

namespace {
std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}
}  // namespace

CuriosityActivations::CuriosityActivations(const CuriosityShape& s, int rows)
    : input(area(rows, s.inputs)),
      target(area(rows, s.outputs)),
      hidden(area(rows, s.hidden)),
      prediction(area(rows, s.outputs)),
      d_hidden(area(rows, s.hidden)),
      d_prediction(area(rows, s.outputs)) {}

CuriosityNet::CuriosityNet(const CuriosityShape& shape)
    : shape_(shape), layers_{}, count_(static_cast<std::size_t>(curiosity_parameters(shape))) {
  for (int i = 0; i < kCuriosityLayers; ++i) {
    const Layer l = curiosity_layer(shape, i);
    layers_[static_cast<std::size_t>(i)] = {l.in, l.out, static_cast<std::size_t>(l.weight),
                                            static_cast<std::size_t>(l.bias)};
  }
}

void CuriosityNet::fill_row(const Market& market, i32 bar, Category category, int r, CuriosityActivations& act) const {
  float* input = act.input.data() + area(r, shape_.inputs);
  std::copy_n(market.row(bar), shape_.outputs, input);
  std::fill_n(input + shape_.outputs, kCategories, 0.0f);
  input[shape_.outputs + static_cast<int>(category)] = 1.0f;
  std::copy_n(market.row(bar + 1), shape_.outputs, act.target.data() + area(r, shape_.outputs));
}

void CuriosityNet::forward(const float* parameters, int rows, CuriosityActivations& act, float* errors) const {
  dense_leaky(layers_[0], parameters, rows, act.input.data(), act.hidden.data());
  dense(layers_[1], parameters, rows, act.hidden.data(), act.prediction.data());
  for (int r = 0; r < rows; ++r) {
    const float* prediction = act.prediction.data() + area(r, shape_.outputs);
    const float* target = act.target.data() + area(r, shape_.outputs);
    float sum = 0;
    for (int j = 0; j < shape_.outputs; ++j) {
      const float difference = prediction[j] - target[j];
      sum += difference * difference;
    }
    errors[r] = sum / static_cast<float>(shape_.outputs);
  }
}

void CuriosityNet::backward(const float* parameters, int rows, float weight, CuriosityActivations& act,
                            float* gradient) const {
  const float scale = 2.0f * weight / static_cast<float>(shape_.outputs);
  for (std::size_t i = 0; i < area(rows, shape_.outputs); ++i) {
    act.d_prediction[i] = scale * (act.prediction[i] - act.target[i]);
  }
  dense_gradient(layers_[1], rows, act.hidden.data(), act.d_prediction.data(), gradient);
  dense_input_gradient(layers_[1], parameters, rows, act.d_prediction.data(), act.d_hidden.data());
  leaky_gradient(area(rows, shape_.hidden), act.hidden.data(), act.d_hidden.data());
  dense_gradient(layers_[0], rows, act.input.data(), act.d_hidden.data(), gradient);
}

}  // namespace warptape::cpu
