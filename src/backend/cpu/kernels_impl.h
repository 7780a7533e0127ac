// The body of a set of kernels, for the Vec of the file that includes it. Everything here is local to that file: a
// function compiled for AVX-512 must not be the one that the linker keeps for all.
//
// Blocking: a block of kRows × kVectors·width results stays in registers over a stretch of the depth; the stretch of b
// that it reads (kDepth rows of one panel) stays in the first-level cache while all rows pass over it.
#pragma once

#include "backend/cpu/kernels.h"
#include "net/layer.h"

namespace warptape::cpu {
namespace {

constexpr int kDepth = 256;

/// The sums of a row's columns from `column`, rounded to pairs where that is asked for.
template <typename V>
void put(V y, float* row, int column, Finish finish) {
  if constexpr (requires { y.store_half(row, column); }) {
    if (finish == Finish::kLeakyHalf) return y.store_half(row, column);
  }
  y.store(row + column);
}

/// One block of R rows and C vectors at column `column`, over depth [from, to).
template <bool Transposed, int R, int C>
void block(const Product& p, int row, int column, int from, int to) {
  Vec sum[R][C];
  float* c = p.c + static_cast<long>(row) * p.c_stride + column;
  if (from > 0 || p.init == Init::kAccumulate) {
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < C; ++v) sum[r][v] = Vec::load(c + static_cast<long>(r) * p.c_stride + v * Vec::kWidth);
    }
  } else {
    for (int v = 0; v < C; ++v) {
      const Vec start = p.init == Init::kBias ? Vec::load(p.bias + column + v * Vec::kWidth) : Vec::broadcast(0.0f);
      for (int r = 0; r < R; ++r) sum[r][v] = start;
    }
  }
  const long a_row = Transposed ? 1 : p.a_stride;
  const long a_depth = Transposed ? p.a_stride : 1;
  const float* a = p.a + row * a_row + from * a_depth;
  const float* b = p.b + static_cast<long>(from) * p.b_stride + column;
  for (int k = from; k < to; ++k, a += a_depth, b += p.b_stride) {
    Vec weights[C];
    for (int v = 0; v < C; ++v) weights[v] = Vec::load(b + v * Vec::kWidth);
    for (int r = 0; r < R; ++r) {
      const Vec x = Vec::broadcast(a[r * a_row]);
      for (int v = 0; v < C; ++v) sum[r][v] = fma(x, weights[v], sum[r][v]);
    }
  }
  const Finish finish = to == p.depth ? p.finish : Finish::kNone;
  for (int r = 0; r < R; ++r) {
    float* out = p.c + static_cast<long>(row + r) * p.c_stride;
    for (int v = 0; v < C; ++v) {
      Vec y = sum[r][v];
      if (finish == Finish::kLeaky || finish == Finish::kLeakyHalf) y = leaky(y, kLeakySlope);
      if (finish == Finish::kLeakyGradient) {
        const float* h = p.activation + static_cast<long>(row + r) * p.c_stride + column + v * Vec::kWidth;
        y = leaky_gradient(y, Vec::load(h), kLeakySlope);
      }
      put(y, out, column + v * Vec::kWidth, finish);
    }
  }
}

template <bool Transposed, int C>
void panel(const Product& p, int column, int from, int to) {
  int row = 0;
  for (; row + kRows <= p.rows; row += kRows) block<Transposed, kRows, C>(p, row, column, from, to);
  if (row + kRows / 2 <= p.rows) {
    block<Transposed, kRows / 2, C>(p, row, column, from, to);
    row += kRows / 2;
  }
  for (; row < p.rows; ++row) block<Transposed, 1, C>(p, row, column, from, to);
}

template <bool Transposed>
void multiply(const Product& p) {
  const int width = p.columns / Vec::kWidth;  // in vectors
  int from = 0;
  do {
    const int to = p.depth - from > kDepth ? from + kDepth : p.depth;
    for (int v = 0; v < width;) {
      const int left = width - v;
      // Four as two and two: a block of one vector alone has too few sums under way to hide their latency.
      const int take = left == 4 && kVectors == 3 ? 2 : left < kVectors ? left : kVectors;
      if (take == kVectors) {
        panel<Transposed, kVectors>(p, v * Vec::kWidth, from, to);
      } else if (take == 1) {
        panel<Transposed, 1>(p, v * Vec::kWidth, from, to);
      } else if (take == 2) {
        panel<Transposed, 2>(p, v * Vec::kWidth, from, to);
      } else {
        panel<Transposed, kVectors - 1>(p, v * Vec::kWidth, from, to);
      }
      v += take;
    }
    from = to;
  } while (from < p.depth);
}

}  // namespace
}  // namespace warptape::cpu
