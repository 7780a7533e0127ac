#include "backend/cpu/market_layer.h"

#include <algorithm>

namespace warptape::cpu {

namespace {
constexpr int kTile = 128;                                // bars that a task fills
constexpr std::int64_t kLargest = std::int64_t{1} << 26;  // floats of a table: 256 MiB
}  // namespace

bool MarketLayer::pays(const DenseLayer& layer, std::int64_t bars, std::int64_t experiences) {
  return bars * 2 <= experiences && bars * layer.stride <= kLargest;
}

void MarketLayer::fill(ThreadPool& pool, const DenseLayer& layer, const float* parameters, const Market& market,
                       std::int64_t bars) {
  table_.resize(static_cast<std::size_t>(bars) * static_cast<std::size_t>(layer.stride));
  pool.run(static_cast<int>((bars + kTile - 1) / kTile), [&](int tile, int) {
    const std::int64_t first = static_cast<std::int64_t>(tile) * kTile;
    DenseLayer part = layer;
    part.in = market.features;
    dense(part, parameters, static_cast<int>(std::min<std::int64_t>(kTile, bars - first)),
          market.row(static_cast<i32>(first)), market.features, table_.data() + first * layer.stride, Finish::kNone);
  });
}

void MarketLayer::finish(const DenseLayer& layer, const float* parameters, int rows, const i32* bar,
                         const float* numbers, float* y) const {
  for (int r = 0; r < rows; ++r) {
    const float* begun =
        bar[r] < 0 ? parameters + layer.bias : table_.data() + static_cast<std::ptrdiff_t>(bar[r]) * layer.stride;
    std::copy_n(begun, layer.stride, y + static_cast<std::ptrdiff_t>(r) * layer.stride);
  }
  Product p;
  p.rows = rows;
  p.columns = padded(layer.out);
  p.b_stride = p.c_stride = layer.stride;
  p.depth = kPortfolioNumbers;
  p.a = numbers;
  p.a_stride = kPortfolioNumbers;
  p.b = parameters + layer.weight + static_cast<std::ptrdiff_t>(layer.in - kPortfolioNumbers) * layer.stride;
  p.c = y;
  p.init = Init::kAccumulate;
  p.finish = Finish::kLeaky;
  kernels().product(p);
}

}  // namespace warptape::cpu
