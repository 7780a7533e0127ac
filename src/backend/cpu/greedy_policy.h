// The greedy policy on the host: what back-tests and the evaluation during training play, whatever backend trained it.
#pragma once

#include <span>

#include "backend/cpu/dueling_net.h"
#include "backend/cpu/states.h"
#include "env/observe.h"

namespace warptape::cpu {

class GreedyPolicy {
 public:
  /// `weights` in the layout of files ([out, in]), as Backend::weights() gives them.
  GreedyPolicy(const DuelingShape& shape, std::span<const float> weights, const Market& market);

  /// argmax of Q at dataset row `bar` with these portfolio numbers; the lowest index wins a tie.
  int act(i32 bar, const Observation& observation);

 private:
  DuelingNet net_;
  Market market_;
  Floats parameters_, state_;
  DuelingActivations activations_;
};

}  // namespace warptape::cpu
