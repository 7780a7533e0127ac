#include "backend/cpu/layers.h"

#include <algorithm>

#include "backend/cpu/product.h"
#include "core/check.h"

namespace warptape::cpu {

void dense(const DenseLayer& layer, const float* parameters, int rows, const float* x, float* y) {
  const float* bias = parameters + layer.bias;
  for (int r = 0; r < rows; ++r) std::copy(bias, bias + layer.out, y + static_cast<std::size_t>(r) * layer.out);
  product(rows, layer.out, layer.in, x, parameters + layer.weight, y, 1.0f);
}

void dense_leaky(const DenseLayer& layer, const float* parameters, int rows, const float* x, float* y) {
  dense(layer, parameters, rows, x, y);
  const std::size_t count = static_cast<std::size_t>(rows) * layer.out;
  for (std::size_t i = 0; i < count; ++i) y[i] = leaky_relu(y[i]);
}

void dense_gradient(const DenseLayer& layer, int rows, const float* x, const float* dy, float* gradient) {
  transposed_product(layer.in, layer.out, rows, x, dy, gradient + layer.weight);
  float* bias = gradient + layer.bias;
  std::fill(bias, bias + layer.out, 0.0f);
  for (int r = 0; r < rows; ++r) {
    const float* row = dy + static_cast<std::size_t>(r) * layer.out;
    for (int j = 0; j < layer.out; ++j) bias[j] += row[j];
  }
}

void dense_input_gradient(const DenseLayer& layer, const float* parameters, int rows, const float* dy, float* dx,
                          float beta) {
  product_by_transposed(rows, layer.in, layer.out, dy, parameters + layer.weight, dx, beta);
}

void leaky_gradient(std::size_t count, const float* y, float* dy) {
  for (std::size_t i = 0; i < count; ++i) dy[i] *= leaky_relu_derivative(y[i]);
}

void transpose_layers(std::span<const DenseLayer> layers, bool to_files, std::span<const float> from,
                      std::span<float> to) {
  CHECK_EQ(from.size(), to.size());
  for (const DenseLayer& layer : layers) {
    const std::size_t in = static_cast<std::size_t>(layer.in);
    const std::size_t out = static_cast<std::size_t>(layer.out);
    const std::size_t rows = to_files ? in : out;  // of `from`
    const std::size_t columns = to_files ? out : in;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        to[layer.weight + c * rows + r] = from[layer.weight + r * columns + c];
      }
    }
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(layer.bias), out,
                to.begin() + static_cast<std::ptrdiff_t>(layer.bias));
  }
}

}  // namespace warptape::cpu
