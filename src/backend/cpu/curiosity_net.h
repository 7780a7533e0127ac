// The curiosity model on a tile of rows: forward, error and backward (docs/domain.md, section 4.6).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "backend/cpu/layers.h"
#include "backend/cpu/states.h"
#include "env/actions.h"
#include "net/curiosity.h"

namespace warptape::cpu {

struct CuriosityActivations {
  CuriosityActivations(const CuriosityShape& shape, int rows);
  std::vector<float> input, target, hidden, prediction, d_hidden, d_prediction;
};

class CuriosityNet {
 public:
  explicit CuriosityNet(const CuriosityShape& shape);

  const CuriosityShape& shape() const { return shape_; }
  std::size_t parameter_count() const { return count_; }
  std::span<const DenseLayer> layers() const { return layers_; }

  /// Row `r` of act.input and act.target: the first columns of bars `bar` and bar + 1, and the one-hot category.
  void fill_row(const Market& market, i32 bar, Category category, int r, CuriosityActivations& act) const;

  /// Predicts rows; errors [rows]: mean squared error of each.
  void forward(const float* parameters, int rows, CuriosityActivations& act, float* errors) const;

  /// Gradient (written =, whole) of Σ_rows weight · error for the rows that forward() left in `act`.
  void backward(const float* parameters, int rows, float weight, CuriosityActivations& act, float* gradient) const;

 private:
  CuriosityShape shape_;
  std::array<DenseLayer, 2> layers_;
  std::size_t count_;
};

}  // namespace warptape::cpu
