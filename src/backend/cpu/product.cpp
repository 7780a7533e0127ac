#include "backend/cpu/product.h"

#include <dnnl.h>

#include "core/check.h"

namespace warptape::cpu {

void product(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  CHECK(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, beta, c, n) == dnnl_success);
}

void product_by_transposed(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  CHECK(dnnl_sgemm('N', 'T', m, n, k, 1.0f, a, k, b, k, beta, c, n) == dnnl_success);
}

void transposed_product(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  CHECK(dnnl_sgemm('T', 'N', m, n, k, 1.0f, a, m, b, n, beta, c, n) == dnnl_success);
}

}  // namespace warptape::cpu
