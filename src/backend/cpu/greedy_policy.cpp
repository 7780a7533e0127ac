#include "backend/cpu/greedy_policy.h"

namespace warptape::cpu {

GreedyPolicy::GreedyPolicy(const DuelingShape& shape, std::span<const float> weights, const Market& market)
    : net_(shape),
      market_(market),
      parameters_(net_.parameter_count()),
      state_(static_cast<std::size_t>(market.state_size())),
      activations_(shape, 1) {
  transpose_layers(net_.layers(), false, weights, parameters_);
}

int GreedyPolicy::act(i32 bar, const Observation& observation) {
  market_.write_state(bar, observation.number, state_.data());
  const DuelingRows act = activations_.at(0);
  net_.first_layer(parameters_.data(), 1, state_.data(), act);
  net_.second_layer(parameters_.data(), 1, act);
  net_.advantage_stream(parameters_.data(), 1, act);
  return net_.greedy(act, 0);
}

}  // namespace warptape::cpu
