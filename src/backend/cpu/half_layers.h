// The dueling network's layers behind the first with operands rounded to bfloat16 and sums in float32: for collecting,
// where the processor multiplies pairs of bfloat16 (collect.precision).
//
// Activations stand where DuelingRows points, as everywhere; of hidden layers each row is half as long: pairs, at the
// beginning of the row's place.
#pragma once

#include <array>

#include "backend/cpu/dueling_net.h"

namespace warptape::cpu {

class HalfLayers {
 public:
  /// Throws Error where the processor has no such products.
  explicit HalfLayers(const DuelingNet& net);

  /// Takes the network's weights, rounded; to be called when they have changed.
  void refresh(const float* parameters);

  /// hidden_0, floats as the first layer leaves them (rounded where they stand), to hidden_1; a stream from hidden_1:
  /// value and advantage are floats.
  void second_layer(int rows, const DuelingRows& act) const;
  void value_stream(int rows, const DuelingRows& act) const;
  void advantage_stream(int rows, const DuelingRows& act) const;

 private:
  void dense(int layer, int rows, const float* x, int x_stride, float* y, Finish finish) const;

  std::array<DenseLayer, kDuelingLayers> layers_;
  std::array<Floats, kDuelingLayers> weights_;  // [pairs of inputs, stride]
  std::array<Floats, kDuelingLayers> biases_;   // [stride]
};

}  // namespace warptape::cpu
