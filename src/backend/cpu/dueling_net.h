// The dueling network on rows: forward, and backward for the learner (docs/domain.md, section 5).
#pragma once

#include <array>
#include <span>

#include "backend/cpu/floats.h"
#include "backend/cpu/layers.h"
#include "net/dueling.h"

namespace warptape::cpu {

/// Pointers at one row of a network's activations, or of the loss's gradients with respect to them (of hidden layers:
/// before their LeakyReLU). Rows lie `row_stride(width)` apart.
struct DuelingRows {
  float *hidden_0, *hidden_1, *value_hidden, *advantage_hidden, *value, *advantage;
};

/// Room for `rows` rows, zeroed.
class DuelingActivations {
 public:
  DuelingActivations(const DuelingShape& shape, int rows);
  DuelingRows at(int row);

 private:
  std::array<int, 6> strides_;
  std::array<Floats, 6> arrays_;
};

class DuelingNet {
 public:
  explicit DuelingNet(const DuelingShape& shape);

  const DuelingShape& shape() const { return shape_; }
  /// Floats of the backend's flat array, padding included.
  std::size_t parameter_count() const { return layers_.back().end(); }
  std::size_t transposed_count() const { return layers_.back().transposed_end(); }
  std::span<const DenseLayer> layers() const { return layers_; }
  int action_stride() const { return layers_[kAdvantageOut].stride; }
  int value_stride() const { return layers_[kValueOut].stride; }

  /// Both streams of the states x [rows, S].
  void forward(const float* parameters, int rows, const float* x, const DuelingRows& act) const;
  /// Its parts: hidden_0 from x; hidden_1 from hidden_0; a stream from hidden_1. The greedy action needs no value: V
  /// and mean A are the same for all actions.
  void first_layer(const float* parameters, int rows, const float* x, const DuelingRows& act) const;
  void second_layer(const float* parameters, int rows, const DuelingRows& act) const;
  void value_stream(const float* parameters, int rows, const DuelingRows& act) const;
  void advantage_stream(const float* parameters, int rows, const DuelingRows& act) const;

  /// Row `row` of what the streams left in `act`: the greedy action, and Q of one action.
  int greedy(const DuelingRows& act, int row) const;
  float q(const DuelingRows& act, int row, int action) const;

  /// d.value and d.advantage of row `row` from dq, the loss's gradient with respect to Q of `action`.
  void head_gradient(int row, int action, float dq, const DuelingRows& d) const;
  /// The hidden layers' gradients from d.value and d.advantage, for the rows that `act` holds.
  void backward(const float* transposed, int rows, const DuelingRows& act, const DuelingRows& d) const;
  /// One block's part of the parameters' gradient (=, or += where `accumulate`), from the states x [rows, S].
  void gradient_block(const LayerBlock& block, int rows, const float* x, const DuelingRows& act, const DuelingRows& d,
                      bool accumulate, float* gradient) const;

 private:
  DuelingShape shape_;
  std::array<DenseLayer, kDuelingLayers> layers_;
};

}  // namespace warptape::cpu
