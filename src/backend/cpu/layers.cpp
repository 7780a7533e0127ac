#include "backend/cpu/layers.h"

#include <algorithm>

namespace warptape::cpu {

DenseLayer place_layer(const Layer& file, const DenseLayer* before) {
  DenseLayer l;
  l.in = file.in;
  l.out = file.out;
  l.stride = row_stride(file.out);
  l.input_stride = row_stride(file.in);
  l.weight = before != nullptr ? before->end() : 0;
  l.bias = l.weight + static_cast<std::size_t>(l.in) * static_cast<std::size_t>(l.stride);
  l.transposed = before != nullptr ? before->transposed_end() : 0;
  l.file = file;
  return l;
}

void dense(const DenseLayer& layer, const float* parameters, int rows, const float* x, int x_stride, float* y,
           Finish finish) {
  Product p;
  p.rows = rows;
  p.columns = padded(layer.out);
  p.b_stride = p.c_stride = layer.stride;
  p.depth = layer.in;
  p.a = x;
  p.a_stride = x_stride;
  p.b = parameters + layer.weight;
  p.c = y;
  p.init = Init::kBias;
  p.bias = parameters + layer.bias;
  p.finish = finish;
  kernels().product(p);
}

void dense_gradient(const DenseLayer& layer, int first, int count, int rows, const float* x, int x_stride,
                    const float* dy, bool accumulate, float* gradient) {
  Product p;
  p.rows = count;
  p.columns = padded(layer.out);
  p.b_stride = p.c_stride = layer.stride;
  p.depth = rows;
  p.a = x + first;
  p.a_stride = x_stride;
  p.b = dy;
  p.c = gradient + layer.weight + static_cast<std::size_t>(first) * static_cast<std::size_t>(layer.stride);
  p.init = accumulate ? Init::kAccumulate : Init::kZero;
  kernels().transposed_product(p);
  if (first > 0) return;
  float* bias = gradient + layer.bias;
  if (!accumulate) std::fill(bias, bias + layer.stride, 0.0f);
  for (int r = 0; r < rows; ++r) {
    const float* row = dy + static_cast<std::ptrdiff_t>(r) * layer.stride;
    for (int j = 0; j < layer.stride; ++j) bias[j] += row[j];
  }
}

void dense_input_gradient(const DenseLayer& layer, const float* transposed, int rows, const float* dy, bool accumulate,
                          const float* activation, float* dx) {
  Product p;
  p.rows = rows;
  p.columns = padded(layer.in);
  p.b_stride = p.c_stride = layer.input_stride;
  p.depth = layer.out;
  p.a = dy;
  p.a_stride = layer.stride;
  p.b = transposed + layer.transposed;
  p.c = dx;
  p.init = accumulate ? Init::kAccumulate : Init::kZero;
  p.finish = activation != nullptr ? Finish::kLeakyGradient : Finish::kNone;
  p.activation = activation;
  kernels().product(p);
}

void transpose_weights(const DenseLayer& layer, int first, int count, const float* parameters, float* transposed) {
  const float* from = parameters + layer.weight + static_cast<std::ptrdiff_t>(first) * layer.stride;
  float* to = transposed + layer.transposed + first;
  for (int o = 0; o < layer.out; ++o) {
    for (int i = 0; i < count; ++i) {
      to[static_cast<std::ptrdiff_t>(o) * layer.input_stride + i] =
          from[static_cast<std::ptrdiff_t>(i) * layer.stride + o];
    }
  }
}

std::vector<LayerBlock> layer_blocks(std::span<const DenseLayer> layers, int inputs) {
  std::vector<LayerBlock> blocks;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const DenseLayer& layer = layers[l];
    for (int first = 0; first < layer.in; first += inputs) {
      const int count = std::min(inputs, layer.in - first);
      const auto offset = [&](int input) {
        return layer.weight + static_cast<std::size_t>(input) * static_cast<std::size_t>(layer.stride);
      };
      const bool last = first + count == layer.in;
      blocks.push_back({static_cast<int>(l), first, count, offset(first), last ? layer.end() : offset(first + count)});
    }
  }
  return blocks;
}

void transpose_layers(std::span<const DenseLayer> layers, bool to_files, std::span<const float> from,
                      std::span<float> to) {
  const auto move = [&](std::size_t inside, std::size_t file) {
    to[to_files ? file : inside] = from[to_files ? inside : file];
  };
  for (const DenseLayer& layer : layers) {
    for (std::size_t o = 0; o < static_cast<std::size_t>(layer.out); ++o) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(layer.in); ++i) {
        move(layer.weight + i * static_cast<std::size_t>(layer.stride) + o,
             static_cast<std::size_t>(layer.file.weight) + o * static_cast<std::size_t>(layer.in) + i);
      }
      move(layer.bias + o, static_cast<std::size_t>(layer.file.bias) + o);
    }
  }
}

}  // namespace warptape::cpu
