#include "backend/cpu/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"

namespace warptape::cpu {

namespace {
constexpr std::size_t kChunk = 8192;  // parameters a task takes; also fixes the order in which squares are summed
}

Optimiser::Optimiser(std::size_t parameters, const AdamSettings& settings)
    : settings_(settings), gradient_(parameters), moment1_(parameters), moment2_(parameters) {}

double Optimiser::step(ThreadPool& pool, int tiles, const std::vector<std::vector<float>>& gradients,
                       double learning_rate, std::span<float> weights) {
  const std::size_t count = gradient_.size();
  CHECK_EQ(weights.size(), count);
  const int chunks = static_cast<int>((count + kChunk - 1) / kChunk);
  std::vector<double> squares(static_cast<std::size_t>(chunks));
  pool.run(chunks, [&](int chunk, int) {
    const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
    const std::size_t last = std::min(count, first + kChunk);
    std::copy(gradients[0].begin() + static_cast<std::ptrdiff_t>(first),
              gradients[0].begin() + static_cast<std::ptrdiff_t>(last),
              gradient_.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t t = 1; t < static_cast<std::size_t>(tiles); ++t) {
      for (std::size_t i = first; i < last; ++i) gradient_[i] += gradients[t][i];
    }
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += static_cast<double>(gradient_[i]) * gradient_[i];
    squares[static_cast<std::size_t>(chunk)] = sum;
  });
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  const float scale =
      settings_.clip_norm > 0 && norm > settings_.clip_norm ? static_cast<float>(settings_.clip_norm / norm) : 1.0f;

  ++steps_;
  const double power = static_cast<double>(steps_);
  AdamStep s{};
  s.learning_rate = static_cast<float>(learning_rate);
  s.beta1 = static_cast<float>(settings_.beta1);
  s.beta2 = static_cast<float>(settings_.beta2);
  s.epsilon = static_cast<float>(settings_.epsilon);
  s.bias1 = static_cast<float>(1.0 - std::pow(settings_.beta1, power));
  s.root_bias2 = static_cast<float>(std::sqrt(1.0 - std::pow(settings_.beta2, power)));
  s.decay = static_cast<float>(1.0 - learning_rate * settings_.weight_decay);
  pool.run(chunks, [&](int chunk, int) {
    const std::size_t first = static_cast<std::size_t>(chunk) * kChunk;
    const std::size_t last = std::min(count, first + kChunk);
    for (std::size_t i = first; i < last; ++i) {
      adam_update(s, gradient_[i] * scale, weights[i], moment1_[i], moment2_[i]);
    }
  });
  return norm;
}

}  // namespace warptape::cpu
