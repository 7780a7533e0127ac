// What plain matrix products allow: the products of the benchmark's networks (docs/domain.md, section 5) alone, nothing
// else, by oneDNN and by Eigen, float32, on all processors. Each shape is tried with the library's own threads and with
// one call of each thread on its share of the rows; the fastest counts. Prints JSON: GFLOP/s, and the rates of
// collection and of learning that would follow if there were nothing else to do.
//   g++ -O3 -march=native -std=c++20 -fopenmp -I/usr/include/eigen3 bench/ceiling.cpp -o build/ceiling -ldnnl
#include <dnnl.h>
#include <omp.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kRepeats = 9;
constexpr double kSecondsARepeat = 0.05;

/// c [m, n] = a [m, k] · b [k, n], row-major.
struct Shape {
  int m, k, n;
  double flop() const { return 2.0 * m * k * n; }
};

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<Matrix>;
using ConstView = Eigen::Map<const Matrix>;
using Multiply = void (*)(const Shape&, const float* a, const float* b, float* c);

void by_onednn(const Shape& s, const float* a, const float* b, float* c) {
  dnnl_sgemm('N', 'N', s.m, s.n, s.k, 1.0f, a, s.k, b, s.n, 0.0f, c, s.n);
}
void by_eigen(const Shape& s, const float* a, const float* b, float* c) {
  View(c, s.m, s.n).noalias() = ConstView(a, s.m, s.k) * ConstView(b, s.k, s.n);
}

struct Operands {
  explicit Operands(const Shape& s)
      : a(Matrix::Random(s.m, s.k)), b(Matrix::Random(s.k, s.n)), c(Matrix::Zero(s.m, s.n)) {}
  Matrix a, b, c;
};

/// Seconds of one call of `work`, the median of the repeats.
double seconds_of(const std::function<void()>& work) {
  const auto once = [&](int calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
  };
  const int calls = 1 + static_cast<int>(kSecondsARepeat / std::max(once(3), 1e-7));
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) seconds.push_back(once(calls));
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRepeats / 2];
}

/// All products of `shapes` one after the other, by the library's own threads.
double library_threads(Multiply multiply, std::vector<Operands>& all, const std::vector<Shape>& shapes) {
  omp_set_num_threads(omp_get_num_procs());
  return seconds_of([&] {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      multiply(shapes[i], all[i].a.data(), all[i].b.data(), all[i].c.data());
    }
  });
}

/// Each thread does all products of `shapes` on its share of the rows, `tile` rows at a time.
double threads_by_rows(Multiply multiply, std::vector<Operands>& all, const std::vector<Shape>& shapes, int tile) {
  const int threads = omp_get_num_procs();
  return seconds_of([&] {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      omp_set_num_threads(1);
      const int rows = shapes[0].m;
      const int first = rows * t / threads, last = rows * (t + 1) / threads;
      for (int r = first; r < last; r += tile) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
          const Shape part = {std::min(tile, last - r), shapes[i].k, shapes[i].n};
          multiply(part, all[i].a.data() + static_cast<std::ptrdiff_t>(r) * part.k, all[i].b.data(),
                   all[i].c.data() + static_cast<std::ptrdiff_t>(r) * part.n);
        }
      }
    }
  });
}

void require_equal(std::vector<Operands>& all, const std::vector<Shape>& shapes) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    by_onednn(shapes[i], all[i].a.data(), all[i].b.data(), all[i].c.data());
    Matrix other(shapes[i].m, shapes[i].n);
    by_eigen(shapes[i], all[i].a.data(), all[i].b.data(), other.data());
    if (!other.isApprox(all[i].c, 1e-4f)) {
      std::fprintf(stderr, "the products differ\n");
      std::exit(EXIT_FAILURE);
    }
  }
}

struct Best {
  double seconds = 1e300;
  std::string how;
  void offer(double s, const std::string& name) {
    if (s < seconds) {
      seconds = s;
      how = name;
    }
  }
};

Best fastest(const std::vector<Shape>& shapes, bool rows_are_shared_out) {
  std::vector<Operands> all;
  for (const Shape& s : shapes) all.emplace_back(s);
  require_equal(all, shapes);
  Best best;
  const struct {
    const char* name;
    Multiply multiply;
  } libraries[] = {{"oneDNN", by_onednn}, {"Eigen", by_eigen}};
  for (const auto& library : libraries) {
    const std::string name = library.name;
    best.offer(library_threads(library.multiply, all, shapes), name + ", its own threads");
    if (!rows_are_shared_out) continue;
    for (const int tile : {64, 128, 256, 1 << 20}) {
      if (tile > shapes[0].m && tile != 1 << 20) continue;
      best.offer(threads_by_rows(library.multiply, all, shapes, tile),
                 name + ", a share of rows for each thread" +
                     (tile == 1 << 20 ? std::string() : ", tiles of " + std::to_string(tile)));
    }
  }
  return best;
}

std::vector<Shape> forward(int rows) {
  return {{rows, 54, 256}, {rows, 256, 256}, {rows, 256, 128}, {rows, 128, 1}, {rows, 256, 128}, {rows, 128, 45}};
}

/// Of the same layers: the gradients of the weights, xᵀ·dy, whose depth is the batch.
std::vector<Shape> weight_gradients(int rows) {
  return {{54, rows, 256}, {256, rows, 256}, {256, rows, 128}, {128, rows, 1}, {256, rows, 128}, {128, rows, 45}};
}

/// And of what goes in, dy·Wᵀ; the first layer's has no use.
std::vector<Shape> input_gradients(int rows) {
  return {{rows, 256, 256}, {rows, 128, 256}, {rows, 1, 128}, {rows, 128, 256}, {rows, 45, 128}};
}

double flop(const std::vector<Shape>& shapes) {
  double sum = 0;
  for (const Shape& s : shapes) sum += s.flop();
  return sum;
}

void print(const char* what, int rows, double work, double seconds, double amount, const char* unit,
           const std::string& how) {
  std::printf(
      " {\"what\": \"%s\", \"size\": %d, \"unit\": \"%s\", \"ceiling\": %.1f, \"gflops\": %.1f, "
      "\"fastest\": \"%s\"}",
      what, rows, unit, amount / seconds, work / seconds / 1e9, how.c_str());
}

}  // namespace

int main() {
  std::printf("[\n");
  for (const int rows : {128, 4096}) {
    std::vector<Shape> shapes = forward(rows);                                              // online
    for (const Shape& s : forward(rows)) shapes.push_back(s);                               // target
    for (const Shape& s : {Shape{rows, 35, 64}, Shape{rows, 64, 32}}) shapes.push_back(s);  // curiosity
    const Best best = fastest(shapes, true);
    print("collect", rows, flop(shapes), best.seconds, rows, "experiences/s", best.how);
    std::printf(",\n");
  }
  for (const int rows : {256, 1024}) {
    std::vector<Shape> by_rows;  // online on states and next states, target on next states
    for (int net = 0; net < 3; ++net) {
      for (const Shape& s : forward(rows)) by_rows.push_back(s);
    }
    for (const Shape& s : input_gradients(rows)) by_rows.push_back(s);
    const std::vector<Shape> by_depth = weight_gradients(rows);
    const Best a = fastest(by_rows, true), b = fastest(by_depth, false);
    print("learn", rows, flop(by_rows) + flop(by_depth), a.seconds + b.seconds, 1, "updates/s",
          a.how + "; weights: " + b.how);
    std::printf(rows == 1024 ? "\n]\n" : ",\n");
  }
}
