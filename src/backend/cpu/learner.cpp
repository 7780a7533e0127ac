#include "backend/cpu/learner.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"
#include "learn/huber.h"
#include "learn/td.h"

namespace warptape::cpu {

namespace {

// Rows of a tile of the batch. A constant: the order in which gradients are summed hangs on it.
constexpr int kTile = 64;

int tiles_of(std::size_t rows) {
  return static_cast<int>((rows + kTile - 1) / kTile);
}

/// Rows of tile `tile` of a batch of `rows`.
int tile_rows(std::size_t rows, int tile) {
  return static_cast<int>(std::min<std::size_t>(kTile, rows - static_cast<std::size_t>(tile) * kTile));
}

AdamSettings adam_settings(const LearnConfig& c) {
  return {c.beta1, c.beta2, c.epsilon, c.optimiser == "adamw" ? c.weight_decay : 0.0, c.clip_norm};
}

/// gradients[0] + gradients[1] + …, in that order.
void sum_in_order(const std::vector<std::vector<float>>& gradients, int tiles, std::vector<float>& sum) {
  sum = gradients[0];
  for (std::size_t t = 1; t < static_cast<std::size_t>(tiles); ++t) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradients[t][i];
  }
}

}  // namespace

struct Learner::Scratch {
  Scratch(const DuelingShape& shape, int state_size)
      : state(static_cast<std::size_t>(kTile * state_size)),
        next(static_cast<std::size_t>(kTile * state_size)),
        dq(static_cast<std::size_t>(kTile * shape.actions)),
        online(shape, kTile),
        online_next(shape, kTile),
        target_next(shape, kTile),
        gradients(shape, kTile) {}
  std::vector<float> state, next, dq;
  DuelingActivations online, online_next, target_next;
  DuelingGradients gradients;
};

Learner::Learner(const LearnConfig& config, const DuelingShape& shape, const Market& market, std::uint64_t seed)
    : config_(config),
      net_(shape),
      market_(market),
      seed_(seed),
      optimiser_(net_.parameter_count(), adam_settings(config)) {}

LearnStats Learner::learn(ThreadPool& pool, const Replay& replay, const LearnRequest& request, std::span<float> online,
                          std::span<float> target) {
  LearnStats mean;
  for (std::int64_t u = 0; u < request.updates; ++u) {
    draw(replay, static_cast<std::uint64_t>(optimiser_.steps()));
    const LearnStats one = run_tiles(pool, online.data(), target.data());
    mean.gradient_norm += optimiser_.step(pool, tiles_of(batch_.size()), gradients_, request.learning_rate, online);
    sync_target(online, target);
    mean.loss += one.loss;
    mean.q += one.q;
    mean.abs_q += one.abs_q;
  }
  mean.updates = request.updates;
  if (request.updates > 0) {
    const double n = static_cast<double>(request.updates);
    mean.loss /= n;
    mean.q /= n;
    mean.abs_q /= n;
    mean.gradient_norm /= n;
  }
  return mean;
}

LearnStats Learner::gradient(ThreadPool& pool, const std::vector<Experience>& batch, std::span<const float> online,
                             std::span<const float> target, std::vector<float>& gradient) {
  batch_ = batch;
  const LearnStats stats = run_tiles(pool, online.data(), target.data());
  sum_in_order(gradients_, tiles_of(batch_.size()), gradient);
  return stats;
}

void Learner::draw(const Replay& replay, std::uint64_t update) {
  CHECK(replay.size() > 0);
  batch_.resize(static_cast<std::size_t>(config_.batch));
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    batch_[i] = replay.row(uniform_row(replay.ring(), seed_, static_cast<u32>(i), update, Draw::kReplay));
  }
}

LearnStats Learner::run_tiles(ThreadPool& pool, const float* online, const float* target) {
  const int tiles = tiles_of(batch_.size());
  while (static_cast<int>(gradients_.size()) < tiles) gradients_.emplace_back(net_.parameter_count());
  while (static_cast<int>(scratch_.size()) < pool.size()) {
    scratch_.push_back(std::make_shared<Scratch>(net_.shape(), market_.state_size()));
  }
  sums_.assign(static_cast<std::size_t>(tiles), {});
  pool.run(tiles, [&](int tile, int worker) {
    const std::size_t t = static_cast<std::size_t>(tile);
    sums_[t] = run_tile(tile, online, target, *scratch_[static_cast<std::size_t>(worker)], gradients_[t].data());
  });
  LearnStats stats;
  for (const TileSums& s : sums_) {
    stats.loss += s.loss;
    stats.q += s.q;
    stats.abs_q += s.abs_q;
  }
  const double rows = static_cast<double>(batch_.size());
  stats.loss /= rows;
  stats.q /= rows;
  stats.abs_q /= rows;
  return stats;
}

Learner::TileSums Learner::run_tile(int tile, const float* online, const float* target, Scratch& s,
                                    float* gradient) const {
  const int rows = tile_rows(batch_.size(), tile);
  const int state_size = market_.state_size();
  const int actions = net_.shape().actions;
  const Experience* batch = batch_.data() + static_cast<std::ptrdiff_t>(tile) * kTile;
  for (int r = 0; r < rows; ++r) {
    market_.write_now(batch[r], s.state.data() + static_cast<std::ptrdiff_t>(r) * state_size);
    market_.write_next(batch[r], s.next.data() + static_cast<std::ptrdiff_t>(r) * state_size);
  }
  net_.forward(online, rows, s.state.data(), s.online);
  net_.forward(online, rows, s.next.data(), s.online_next);
  net_.forward(target, rows, s.next.data(), s.target_next);

  TileSums sums;
  std::fill(s.dq.begin(), s.dq.end(), 0.0f);
  const float mean = 1.0f / static_cast<float>(batch_.size());
  for (int r = 0; r < rows; ++r) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(r) * actions;
    const int best = argmax(s.online_next.q.data() + at, actions);
    const float y = td_target(batch[r].reward, static_cast<float>(config_.gamma),
                              s.target_next.q[static_cast<std::size_t>(at + best)], is_terminal(batch[r]));
    const std::size_t chosen = static_cast<std::size_t>(at + action_of(batch[r]));
    const float q = s.online.q[chosen];
    const float delta = static_cast<float>(config_.huber_delta);
    s.dq[chosen] = huber_slope(q - y, delta) * mean;
    sums.loss += huber_loss(q - y, delta);
    sums.q += q;
    sums.abs_q += std::abs(q);
  }
  net_.backward(online, rows, s.state.data(), s.online, s.dq.data(), s.gradients, gradient);
  return sums;
}

void Learner::sync_target(std::span<const float> online, std::span<float> target) const {
  if (config_.target_sync == "hard") {
    if (optimiser_.steps() % config_.target_every == 0) std::copy(online.begin(), online.end(), target.begin());
    return;
  }
  const float tau = static_cast<float>(config_.tau);
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = polyak(target[i], online[i], tau);
}

CuriosityLearner::CuriosityLearner(const CuriosityConfig& config, const CuriosityShape& shape, const Market& market,
                                   const ActionTables& actions, std::uint64_t seed)
    : config_(config),
      net_(shape),
      market_(market),
      actions_(actions),
      seed_(seed),
      optimiser_(net_.parameter_count(), AdamSettings{}) {}

CuriosityStats CuriosityLearner::train(ThreadPool& pool, const Replay& replay, std::span<float> weights) {
  CuriosityStats stats;
  for (std::int64_t b = 0; b < config_.batches; ++b) {
    batch_.clear();
    const auto update = static_cast<std::uint64_t>(optimiser_.steps());
    for (std::int64_t i = 0; i < config_.batch; ++i) {
      const Experience& e =
          replay.row(uniform_row(replay.ring(), seed_, static_cast<u32>(i), update, Draw::kCuriosity));
      if (e.bar >= 0) batch_.push_back(e);  // a classic row of zeros has nothing to predict
    }
    if (batch_.empty()) continue;
    stats.loss += run_tiles(pool, weights.data());
    optimiser_.step(pool, tiles_of(batch_.size()), gradients_, config_.learning_rate, weights);
  }
  stats.loss /= static_cast<double>(config_.batches);
  return stats;
}

double CuriosityLearner::gradient(ThreadPool& pool, const std::vector<Experience>& batch,
                                  std::span<const float> weights, std::vector<float>& gradient) {
  batch_ = batch;
  const double loss = run_tiles(pool, weights.data());
  sum_in_order(gradients_, tiles_of(batch_.size()), gradient);
  return loss;
}

double CuriosityLearner::run_tiles(ThreadPool& pool, const float* weights) {
  const int tiles = tiles_of(batch_.size());
  while (static_cast<int>(gradients_.size()) < tiles) gradients_.emplace_back(net_.parameter_count());
  while (static_cast<int>(scratch_.size()) < pool.size()) {
    scratch_.push_back(std::make_unique<CuriosityActivations>(net_.shape(), kTile));
  }
  const float mean = 1.0f / static_cast<float>(batch_.size());
  std::vector<double> losses(static_cast<std::size_t>(tiles));
  pool.run(tiles, [&](int tile, int worker) {
    const int rows = tile_rows(batch_.size(), tile);
    CuriosityActivations& act = *scratch_[static_cast<std::size_t>(worker)];
    for (int r = 0; r < rows; ++r) {
      const Experience& e = batch_[static_cast<std::size_t>(tile) * kTile + static_cast<std::size_t>(r)];
      net_.fill_row(market_, e.bar, static_cast<Category>(actions_.category[action_of(e)]), r, act);
    }
    std::array<float, kTile> errors{};
    net_.forward(weights, rows, act, errors.data());
    net_.backward(weights, rows, mean, act, gradients_[static_cast<std::size_t>(tile)].data());
    for (int r = 0; r < rows; ++r) losses[static_cast<std::size_t>(tile)] += errors[static_cast<std::size_t>(r)];
  });
  double loss = 0;
  for (const double sum : losses) loss += sum;
  return loss / static_cast<double>(batch_.size());
}

}  // namespace warptape::cpu
