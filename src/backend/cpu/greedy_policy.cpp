#include "backend/cpu/greedy_policy.h"

#include "learn/td.h"

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
  net_.forward(parameters_.data(), 1, state_.data(), activations_);
  return argmax(activations_.q.data(), net_.shape().actions);
}

}  // namespace warptape::cpu
