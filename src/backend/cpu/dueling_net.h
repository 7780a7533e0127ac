// The dueling network on a tile of rows: forward, and backward for the learner (docs/domain.md, section 5).
#pragma once

#include <array>
#include <vector>

#include "backend/cpu/layers.h"
#include "net/dueling.h"

namespace warptape::cpu {

/// What one worker needs to run up to `rows` rows through a dueling network; q [rows, A] is the result.
struct DuelingActivations {
  DuelingActivations(const DuelingShape& shape, int rows);
  std::vector<float> hidden_0, hidden_1, value_hidden, advantage_hidden, value, advantage, q;
};

/// Scratch of the backward pass.
struct DuelingGradients {
  DuelingGradients(const DuelingShape& shape, int rows);
  std::vector<float> hidden_0, hidden_1, value_hidden, advantage_hidden, value, advantage;
};

class DuelingNet {
 public:
  explicit DuelingNet(const DuelingShape& shape);

  const DuelingShape& shape() const { return shape_; }
  std::size_t parameter_count() const { return count_; }
  std::span<const DenseLayer> layers() const { return layers_; }

  /// q = Q(x) for x [rows, S], with `parameters` [in, out] by layer.
  void forward(const float* parameters, int rows, const float* x, DuelingActivations& act) const;

  /// Gradient (written =, whole) of Σ dq·q for the rows that `act` holds, from dq [rows, A].
  void backward(const float* parameters, int rows, const float* x, const DuelingActivations& act, const float* dq,
                DuelingGradients& scratch, float* gradient) const;

 private:
  DuelingShape shape_;
  std::array<DenseLayer, 6> layers_;
  std::size_t count_;
};

}  // namespace warptape::cpu
