// The curiosity model on rows: forward, error and backward (docs/domain.md, section 4.6).
#pragma once

#include <array>
#include <span>

#include "backend/cpu/floats.h"
#include "backend/cpu/layers.h"
#include "backend/cpu/states.h"
#include "env/actions.h"
#include "net/curiosity.h"

namespace warptape::cpu {

/// Pointers at one row: input [inputs], target [outputs], and hidden, prediction and the loss's gradients with respect
/// to both, each `row_stride(width)` apart.
struct CuriosityRows {
  float *input, *target, *hidden, *prediction, *d_hidden, *d_prediction;
};

/// Room for `rows` rows, zeroed.
class CuriosityActivations {
 public:
  CuriosityActivations(const CuriosityShape& shape, int rows);
  CuriosityRows at(int row);

 private:
  std::array<int, 6> strides_;
  std::array<Floats, 6> arrays_;
};

class CuriosityNet {
 public:
  explicit CuriosityNet(const CuriosityShape& shape);

  const CuriosityShape& shape() const { return shape_; }
  /// Floats of the backend's flat array, padding included.
  std::size_t parameter_count() const { return layers_.back().end(); }
  std::size_t transposed_count() const { return layers_.back().transposed_end(); }
  std::span<const DenseLayer> layers() const { return layers_; }

  /// Row `row` of input and target: the first columns of bars `bar` and bar + 1, and the one-hot category.
  void fill_row(const Market& market, i32 bar, Category category, int row, const CuriosityRows& act) const;

  /// Predicts rows; errors [rows]: mean squared error of each.
  void forward(const float* parameters, int rows, const CuriosityRows& act, float* errors) const;

  /// Gradients with respect to prediction and hidden layer of Σ_rows weight · error, for the rows that forward() left.
  void backward(const float* transposed, int rows, float weight, const CuriosityRows& act) const;
  /// The parameters' gradient (=), whole.
  void gradient(int rows, const CuriosityRows& act, float* gradient) const;

 private:
  CuriosityShape shape_;
  std::array<DenseLayer, kCuriosityLayers> layers_;
};

}  // namespace warptape::cpu
