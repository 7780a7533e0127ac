// Which library does the CPU backend's products: oneDNN's sgemm against Eigen, on the default network's layers, one
// thread, tiles of rows as the collector and the learner have them. Prints JSON, GFLOP/s, the median of 15.
//   g++ -O3 -march=native -std=c++20 -I/usr/include/eigen3 bench/products.cpp -o products -ldnnl && OMP_NUM_THREADS=1
//   ./products
#include <dnnl.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kRepeats = 15;
constexpr int kCallsARepeat = 50;

/// GFLOP/s of `call`, which does `flop` operations.
template <typename Call>
double rate(double flop, Call call) {
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < kCallsARepeat; ++k) call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kCallsARepeat);
  }
  std::sort(seconds.begin(), seconds.end());
  return flop / seconds[kRepeats / 2] / 1e9;
}

struct Layer {
  int in, out;
};

}  // namespace

int main() {
  std::printf("[\n");
  const char* separator = "";
  for (const int rows : {64, 128, 256}) {
    for (const Layer layer : {Layer{54, 256}, Layer{256, 256}, Layer{256, 128}, Layer{128, 45}}) {
      const Matrix x = Matrix::Random(rows, layer.in);
      const Matrix by_output = Matrix::Random(layer.out, layer.in);
      const Matrix by_input = by_output.transpose();
      Matrix eigen(rows, layer.out), dnnl(rows, layer.out);
      const double flop = 2.0 * rows * layer.in * layer.out;
      const double eigen_by_output = rate(flop, [&] { eigen.noalias() = x * by_output.transpose(); });
      const double eigen_by_input = rate(flop, [&] { eigen.noalias() = x * by_input; });
      const double onednn = rate(flop, [&] {
        dnnl_sgemm('N', 'N', rows, layer.out, layer.in, 1.0f, x.data(), layer.in, by_input.data(), layer.out, 0.0f,
                   dnnl.data(), layer.out);
      });
      if (!eigen.isApprox(dnnl, 1e-4f)) {
        std::fprintf(stderr, "the products differ\n");
        return EXIT_FAILURE;
      }
      std::printf(
          "%s  {\"rows\": %d, \"in\": %d, \"out\": %d, \"eigen_weights_out_in\": %.1f, \"eigen_weights_in_out\": "
          "%.1f, \"onednn_weights_in_out\": %.1f}",
          separator, rows, layer.in, layer.out, eigen_by_output, eigen_by_input, onednn);
      separator = ",\n";
    }
  }
  std::printf("\n]\n");
}
