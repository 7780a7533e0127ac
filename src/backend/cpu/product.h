// Matrix products of the CPU backend, one thread each: the threads are spent on tiles. oneDNN does them; its sgemm
// measured 1.2 to 1.8 times Eigen's rate on the default network's shapes (bench/products.cpp, bench/results).
#pragma once

namespace warptape::cpu {

/// c [m, n] = a [m, k] · b [k, n] + beta·c, row-major: a layer forward.
void product(int m, int n, int k, const float* a, const float* b, float* c, float beta = 0.0f);

/// c [m, n] = a [m, k] · bᵀ + beta·c with b [n, k], row-major: a layer's gradient to its input.
void product_by_transposed(int m, int n, int k, const float* a, const float* b, float* c, float beta = 0.0f);

/// c [m, n] = aᵀ · b + beta·c with a [k, m], b [k, n], row-major: a layer's weight gradient.
void transposed_product(int m, int n, int k, const float* a, const float* b, float* c, float beta = 0.0f);

}  // namespace warptape::cpu
