#include "backend/cpu/product.h"

#include <dnnl.h>
#include <omp.h>

#include "core/check.h"

namespace warptape::cpu {

namespace {

/// Keeps oneDNN to the calling thread, then puts the caller's setting back. Else it would start a team of threads
/// inside each tile, and split long sums over the team: other bits on a machine with more processors.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace

void product(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  const OneThread one_thread;
  CHECK(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, beta, c, n) == dnnl_success);
}

void product_by_transposed(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  const OneThread one_thread;
  CHECK(dnnl_sgemm('N', 'T', m, n, k, 1.0f, a, k, b, k, beta, c, n) == dnnl_success);
}

void transposed_product(int m, int n, int k, const float* a, const float* b, float* c, float beta) {
  const OneThread one_thread;
  CHECK(dnnl_sgemm('T', 'N', m, n, k, 1.0f, a, m, b, n, beta, c, n) == dnnl_success);
}

}  // namespace warptape::cpu
