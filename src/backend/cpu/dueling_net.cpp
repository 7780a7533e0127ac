#include "backend/cpu/dueling_net.h"

#include <numeric>

namespace warptape::cpu {

namespace {

std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

DuelingActivations::DuelingActivations(const DuelingShape& s, int rows)
    : hidden_0(area(rows, s.shared_0)),
      hidden_1(area(rows, s.shared_1)),
      value_hidden(area(rows, s.value)),
      advantage_hidden(area(rows, s.advantage)),
      value(area(rows, 1)),
      advantage(area(rows, s.actions)),
      q(area(rows, s.actions)) {}

DuelingGradients::DuelingGradients(const DuelingShape& s, int rows)
    : hidden_0(area(rows, s.shared_0)),
      hidden_1(area(rows, s.shared_1)),
      value_hidden(area(rows, s.value)),
      advantage_hidden(area(rows, s.advantage)),
      value(area(rows, 1)),
      advantage(area(rows, s.actions)) {}

DuelingNet::DuelingNet(const DuelingShape& shape)
    : shape_(shape), layers_{}, count_(static_cast<std::size_t>(dueling_parameters(shape))) {
  for (int i = 0; i < kDuelingLayers; ++i) {
    const Layer l = dueling_layer(shape, i);
    layers_[static_cast<std::size_t>(i)] = {l.in, l.out, static_cast<std::size_t>(l.weight),
                                            static_cast<std::size_t>(l.bias)};
  }
}

void DuelingNet::forward(const float* parameters, int rows, const float* x, DuelingActivations& act) const {
  dense_leaky(layers_[kShared0], parameters, rows, x, act.hidden_0.data());
  dense_leaky(layers_[kShared1], parameters, rows, act.hidden_0.data(), act.hidden_1.data());
  dense_leaky(layers_[kValueFc], parameters, rows, act.hidden_1.data(), act.value_hidden.data());
  dense(layers_[kValueOut], parameters, rows, act.value_hidden.data(), act.value.data());
  dense_leaky(layers_[kAdvantageFc], parameters, rows, act.hidden_1.data(), act.advantage_hidden.data());
  dense(layers_[kAdvantageOut], parameters, rows, act.advantage_hidden.data(), act.advantage.data());
  for (int r = 0; r < rows; ++r) {
    combine_all(act.value[static_cast<std::size_t>(r)], act.advantage.data() + area(r, shape_.actions), shape_.actions,
                act.q.data() + area(r, shape_.actions));
  }
}

void DuelingNet::backward(const float* parameters, int rows, const float* x, const DuelingActivations& act,
                          const float* dq, DuelingGradients& d, float* gradient) const {
  const int actions = shape_.actions;
  // Q = V + A − mean A: dV is the sum of dq, dA is dq less its mean.
  for (int r = 0; r < rows; ++r) {
    const float* dq_row = dq + area(r, actions);
    const float sum = std::accumulate(dq_row, dq_row + actions, 0.0f);
    d.value[static_cast<std::size_t>(r)] = sum;
    const float mean = sum / static_cast<float>(actions);
    for (int a = 0; a < actions; ++a) d.advantage[area(r, actions) + static_cast<std::size_t>(a)] = dq_row[a] - mean;
  }
  dense_gradient(layers_[kAdvantageOut], rows, act.advantage_hidden.data(), d.advantage.data(), gradient);
  dense_input_gradient(layers_[kAdvantageOut], parameters, rows, d.advantage.data(), d.advantage_hidden.data());
  leaky_gradient(area(rows, shape_.advantage), act.advantage_hidden.data(), d.advantage_hidden.data());

  dense_gradient(layers_[kValueOut], rows, act.value_hidden.data(), d.value.data(), gradient);
  dense_input_gradient(layers_[kValueOut], parameters, rows, d.value.data(), d.value_hidden.data());
  leaky_gradient(area(rows, shape_.value), act.value_hidden.data(), d.value_hidden.data());

  dense_gradient(layers_[kAdvantageFc], rows, act.hidden_1.data(), d.advantage_hidden.data(), gradient);
  dense_gradient(layers_[kValueFc], rows, act.hidden_1.data(), d.value_hidden.data(), gradient);
  dense_input_gradient(layers_[kAdvantageFc], parameters, rows, d.advantage_hidden.data(), d.hidden_1.data());
  dense_input_gradient(layers_[kValueFc], parameters, rows, d.value_hidden.data(), d.hidden_1.data(), 1.0f);
  leaky_gradient(area(rows, shape_.shared_1), act.hidden_1.data(), d.hidden_1.data());

  dense_gradient(layers_[kShared1], rows, act.hidden_0.data(), d.hidden_1.data(), gradient);
  dense_input_gradient(layers_[kShared1], parameters, rows, d.hidden_1.data(), d.hidden_0.data());
  leaky_gradient(area(rows, shape_.shared_0), act.hidden_0.data(), d.hidden_0.data());
  dense_gradient(layers_[kShared0], rows, x, d.hidden_0.data(), gradient);
}

}  // namespace warptape::cpu
