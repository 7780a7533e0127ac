// What the tests of the CPU backend share: networks in float64 written from docs/domain.md alone, made-up datasets and
// small configurations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape::cpu_test {

/// Uniform in [0, 1), the same on every machine.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {
    for (int i = 0; i < 8; ++i) (*this)();
  }
  double operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  /// Uniform in [-size, size), a float32 number.
  float around_zero(double size) { return static_cast<float>((2 * (*this)() - 1) * size); }

 private:
  std::uint64_t state_;
};

/// Widths of the dueling network (docs/domain.md, section 5).
struct Widths {
  int state, shared_0, shared_1, value, advantage, actions;
};

/// Dense layers one after another in an array in the order of files: weight [out, in], bias [out]. Notes how near any
/// input of a LeakyReLU came to its kink.
class ReferenceLayers {
 public:
  explicit ReferenceLayers(std::span<const double> parameters) : parameters_(parameters) {}

  std::vector<double> dense(const std::vector<double>& x, int out, bool leaky) {
    const std::size_t in = x.size();
    const double* weight = parameters_.data() + at_;
    const double* bias = weight + static_cast<std::size_t>(out) * in;
    std::vector<double> y;
    for (std::size_t o = 0; o < static_cast<std::size_t>(out); ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < in; ++i) sum += weight[o * in + i] * x[i];
      if (leaky) nearest_kink_ = std::min(nearest_kink_, std::fabs(sum));
      y.push_back(leaky && sum < 0 ? 0.01 * sum : sum);
    }
    at_ += static_cast<std::size_t>(out) * (in + 1);
    return y;
  }
  double nearest_kink() const { return nearest_kink_; }
  std::size_t used() const { return at_; }

 private:
  std::span<const double> parameters_;
  std::size_t at_ = 0;
  double nearest_kink_ = 1e300;
};

/// Q [A] of one state.
inline std::vector<double> reference_q(const Widths& w, std::span<const double> parameters,
                                       const std::vector<double>& state, double* nearest_kink = nullptr) {
  ReferenceLayers net(parameters);
  const std::vector<double> trunk = net.dense(net.dense(state, w.shared_0, true), w.shared_1, true);
  const double value = net.dense(net.dense(trunk, w.value, true), 1, false)[0];
  std::vector<double> q = net.dense(net.dense(trunk, w.advantage, true), w.actions, false);
  double mean = 0;
  for (const double a : q) mean += a / w.actions;
  for (double& a : q) a += value - mean;
  if (nearest_kink) *nearest_kink = std::min(*nearest_kink, net.nearest_kink());
  return q;
}

/// Mean squared error of the curiosity model on one row: market columns of a bar and the next, cut to 32 columns.
inline double reference_curiosity_error(int hidden, std::span<const double> parameters, std::span<const float> market,
                                        std::span<const float> next_market, int category,
                                        double* nearest_kink = nullptr) {
  const std::size_t columns = std::min<std::size_t>(32, market.size());
  std::vector<double> x(market.begin(), market.begin() + static_cast<std::ptrdiff_t>(columns));
  for (int c = 0; c < 3; ++c) x.push_back(c == category ? 1.0 : 0.0);
  ReferenceLayers net(parameters);
  const std::vector<double> predicted = net.dense(net.dense(x, hidden, true), static_cast<int>(columns), false);
  double sum = 0;
  for (std::size_t j = 0; j < columns; ++j) sum += std::pow(predicted[j] - static_cast<double>(next_market[j]), 2);
  if (nearest_kink) *nearest_kink = std::min(*nearest_kink, net.nearest_kink());
  return sum / static_cast<double>(columns);
}

inline std::vector<double> to_double(std::span<const float> x) {
  return {x.begin(), x.end()};
}

/// How the made-up prices move.
struct Walk {
  double step = 0.01;  ///< largest relative change of a close
  double wick = 0.003;
  double gap = 0.001;  ///< largest relative distance of an open from the last close
};

/// Segments of these lengths: features in [-2, 2), prices a random walk from 100.
inline Dataset random_dataset(const std::vector<std::int64_t>& lengths, int features, std::uint64_t seed,
                              const Walk& walk = {}) {
  Uniform uniform(seed);
  Dataset d;
  d.features = features;
  for (int j = 0; j < features; ++j) d.feature_names.push_back("f" + std::to_string(j));
  for (const std::int64_t length : lengths) {
    d.segments.push_back({"segment_" + std::to_string(d.segments.size()), d.bars(), length});
    double close = 100;
    for (std::int64_t t = 0; t < length; ++t) {
      const double open = close * (1 + 2 * walk.gap * (uniform() - 0.5));
      close = open * (1 + 2 * walk.step * (uniform() - 0.5));
      d.ts_ns.push_back(d.bars() * 3'600'000'000'000);
      d.open.push_back(open);
      d.close.push_back(close);
      d.high.push_back(std::max(open, close) * (1 + walk.wick * uniform()));
      d.low.push_back(std::min(open, close) * (1 - walk.wick * uniform()));
      for (int j = 0; j < features; ++j) d.market.push_back(uniform.around_zero(2));
    }
  }
  return d;
}

/// A small world: episodes × steps, one thread, narrow layers, a replay of three rounds and a bit.
inline Config small_config(RuleSet rules, std::int64_t episodes, std::int64_t steps) {
  Config c = Config::defaults(rules);
  c.seed = 77;
  c.threads = 1;
  c.net = {16, 16, 8, 8, 8};
  c.collect.episodes = episodes;
  c.collect.steps = steps;
  c.env.episode_length = 20;
  c.replay.capacity = episodes * steps * 3 + episodes / 2;
  c.learn.batch = 70;
  c.curiosity.batches = 2;
  c.curiosity.batch = 70;
  return c;
}

inline Widths widths_of(const Config& c, const Dataset& d) {
  const std::size_t actions = c.env.exposures.size() * c.env.order_types.size() * c.env.urgency_cost.size();
  return {d.features + 3,
          static_cast<int>(c.net.shared_0),
          static_cast<int>(c.net.shared_1),
          static_cast<int>(c.net.value),
          static_cast<int>(c.net.advantage),
          static_cast<int>(actions)};
}

/// The state of row `bar` with these portfolio numbers; bar < 0: zeros.
inline std::vector<double> state_of(const Dataset& d, std::int64_t bar, const float* numbers) {
  const std::size_t features = static_cast<std::size_t>(d.features);
  if (bar < 0) return std::vector<double>(features + 3);
  const float* row = d.market.data() + static_cast<std::size_t>(bar) * features;
  std::vector<double> state(row, row + features);
  state.insert(state.end(), numbers, numbers + 3);
  return state;
}

}  // namespace warptape::cpu_test
