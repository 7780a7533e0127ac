// Dense layers on rows, over the kernels. Weights are kept [in, out] here, transposed against files and Network
// tensors, so that a forward product reads both operands in order; rows of weights, biases and activations are padded
// with zeros to whole groups of columns, which every operation below keeps zero.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/cpu/kernels.h"
#include "net/layer.h"

namespace warptape::cpu {

/// Where a layer lies in the backend's flat arrays: weight [in, stride] at `weight`, bias [stride] at `bias`; and, for
/// the gradient with respect to its input, weightᵀ [out, input_stride] at `transposed` of another array.
struct DenseLayer {
  int in = 0, out = 0;
  int stride = 0, input_stride = 0;  ///< row_stride(out), row_stride(in)
  std::size_t weight = 0, bias = 0, transposed = 0;
  Layer file{};  ///< where it lies in files, [out, in]

  std::size_t end() const { return bias + static_cast<std::size_t>(stride); }
  std::size_t transposed_end() const {
    return transposed + static_cast<std::size_t>(out) * static_cast<std::size_t>(input_stride);
  }
};

/// The layer that follows `before` in the flat arrays (the first: null).
DenseLayer place_layer(const Layer& file, const DenseLayer* before);

/// y [rows, stride] = finish(x · W + b), with x [rows, in] at `x_stride`.
void dense(const DenseLayer& layer, const float* parameters, int rows, const float* x, int x_stride, float* y,
           Finish finish);

/// Gradient (=, or += where `accumulate`) of the weights of inputs [first, first + count), and of the bias where first
/// = 0, from x [rows, in] at `x_stride` and dy [rows, stride].
void dense_gradient(const DenseLayer& layer, int first, int count, int rows, const float* x, int x_stride,
                    const float* dy, bool accumulate, float* gradient);

/// dx [rows, input_stride] = dy · Wᵀ, or += where `accumulate`; then, where `activation` [rows, input_stride] is given,
/// times LeakyReLU' there.
void dense_input_gradient(const DenseLayer& layer, const float* transposed, int rows, const float* dy, bool accumulate,
                          const float* activation, float* dx);

/// Refreshes the transposed weights of inputs [first, first + count).
void transpose_weights(const DenseLayer& layer, int first, int count, const float* parameters, float* transposed);

/// Some inputs of one layer, with the bias where first = 0: what one task of the weights' gradient or of the optimiser
/// takes.
struct LayerBlock {
  int layer = 0;
  int first = 0, count = 0;
  std::size_t begin = 0, end = 0;  ///< of the flat array; with the bias behind the last block of the layer
};

/// Blocks of at most `inputs` inputs that cover all layers in order.
std::vector<LayerBlock> layer_blocks(std::span<const DenseLayer> layers, int inputs);

/// From files' [out, in] weights to the backend's, or back.
void transpose_layers(std::span<const DenseLayer> layers, bool to_files, std::span<const float> from,
                      std::span<float> to);

}  // namespace warptape::cpu
