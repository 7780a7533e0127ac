// Dense layers on a tile of rows. Weights are kept [in, out] here, transposed against files and Network tensors, so
// that a forward product reads both operands in order.
#pragma once

#include <span>
#include <vector>

#include "net/curiosity.h"
#include "net/dueling.h"

namespace warptape::cpu {

/// Where a layer lies in a flat parameter array: weight [in, out] at `weight`, bias [out] at `bias`.
struct DenseLayer {
  int in = 0, out = 0;
  std::size_t weight = 0, bias = 0;
};

/// y [rows, out] = x [rows, in] · W + b.
void dense(const DenseLayer& layer, const float* parameters, int rows, const float* x, float* y);
/// The same, then LeakyReLU.
void dense_leaky(const DenseLayer& layer, const float* parameters, int rows, const float* x, float* y);

/// gradient (this layer's part, written =) from x [rows, in] and dy [rows, out].
void dense_gradient(const DenseLayer& layer, int rows, const float* x, const float* dy, float* gradient);
/// dx [rows, in] = dy · Wᵀ + beta·dx.
void dense_input_gradient(const DenseLayer& layer, const float* parameters, int rows, const float* dy, float* dx,
                          float beta = 0.0f);
/// dy *= LeakyReLU'(pre-activation), told from the sign of the activation y.
void leaky_gradient(std::size_t count, const float* y, float* dy);

/// From files' [out, in] weights to [in, out], or back; the offsets stay, so one function serves both ways.
void transpose_layers(std::span<const DenseLayer> layers, bool to_files, std::span<const float> from,
                      std::span<float> to);

}  // namespace warptape::cpu
