#include "backend/cpu/learner.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "learn/huber.h"
#include "learn/td.h"

namespace warptape::cpu {

namespace {

constexpr int kTile = 64;         // rows that a task takes forward and backward
constexpr int kTilesAThread = 2;  // of a chunk: activations that stay in the second-level cache until they are used
constexpr int kBlockInputs = 32;  // of a layer, that a task of the weights' gradient takes

/// Rows of a chunk for `batch` rows: enough tiles for all threads.
int chunk_rows(std::size_t batch, int threads) {
  return static_cast<int>(std::min<std::size_t>(batch, static_cast<std::size_t>(kTile * kTilesAThread * threads)));
}

AdamSettings adam_settings(const LearnConfig& c) {
  return {c.beta1, c.beta2, c.epsilon, c.optimiser == "adamw" ? c.weight_decay : 0.0, c.clip_norm};
}

}  // namespace

/// What forward and backward leave for the gradient of the weights.
struct Learner::Chunk {
  Chunk(const DuelingShape& shape, int rows)
      : capacity(rows), state(static_cast<std::size_t>(rows * shape.state)), online(shape, rows), slopes(shape, rows) {}
  int capacity;
  Floats state;
  DuelingActivations online, slopes;
};

/// One worker's scratch of a tile.
struct Learner::Worker {
  explicit Worker(const DuelingShape& shape)
      : next(static_cast<std::size_t>(kTile * shape.state)), online_next(shape, kTile), target_next(shape, kTile) {}
  Floats next;
  DuelingActivations online_next, target_next;
};

Learner::Learner(const LearnConfig& config, const DuelingShape& shape, const Market& market, std::uint64_t seed)
    : config_(config),
      net_(shape),
      market_(market),
      seed_(seed),
      optimiser_(net_.layers(), adam_settings(config)),
      blocks_(layer_blocks(net_.layers(), kBlockInputs)),
      gradient_(net_.parameter_count()),
      transposed_(net_.transposed_count()) {}

Learner::~Learner() = default;

LearnStats Learner::learn(ThreadPool& pool, Replay& replay, const LearnRequest& request, std::span<float> online,
                          std::span<float> target) {
  LearnStats mean;
  refresh_transposed(online);
  for (std::int64_t u = 0; u < request.updates; ++u) {
    const std::int64_t drawn_at = replay.steps_inserted();
    draw(replay, static_cast<std::uint64_t>(optimiser_.steps()), request.beta);
    const LearnStats one = run_batch(pool, online.data(), target.data());
    if (replay.rules().prioritised) replay.set_errors(rows_, errors_, drawn_at);
    mean.gradient_norm += optimiser_.step(pool, gradient_, request.learning_rate, online, [&](const LayerBlock& block) {
      const DenseLayer& layer = net_.layers()[static_cast<std::size_t>(block.layer)];
      transpose_weights(layer, block.first, block.count, online.data(), transposed_.data());
      sync_target(block, online, target);
    });
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
  std::vector<Transition> transitions;
  for (const Experience& e : batch) {
    transitions.push_back(n_step_transition(make_ring(1, 1), &e, 0, 1, static_cast<float>(config_.gamma)));
  }
  return this->gradient(pool, transitions, online, target, gradient);
}

LearnStats Learner::gradient(ThreadPool& pool, const std::vector<Transition>& batch, std::span<const float> online,
                             std::span<const float> target, std::vector<float>& gradient) {
  batch_ = batch;
  refresh_transposed(online);
  const LearnStats stats = run_batch(pool, online.data(), target.data());
  gradient.assign(gradient_.begin(), gradient_.end());
  return stats;
}

void Learner::draw(const Replay& replay, std::uint64_t update, double beta) {
  rows_.resize(static_cast<std::size_t>(config_.batch));
  batch_.resize(rows_.size());
  replay.draw(seed_, update, rows_);
  const float gamma = static_cast<float>(config_.gamma);
  for (std::size_t i = 0; i < rows_.size(); ++i) batch_[i] = replay.transition(rows_[i], gamma);
  if (replay.rules().prioritised) replay.weigh(rows_, beta, batch_);
}

LearnStats Learner::run_batch(ThreadPool& pool, const float* online, const float* target) {
  const int rows = static_cast<int>(batch_.size());
  const int chunk = chunk_rows(batch_.size(), pool.size());
  if (!chunk_ || chunk_->capacity < chunk) chunk_ = std::make_unique<Chunk>(net_.shape(), chunk);
  while (static_cast<int>(workers_.size()) < pool.size()) workers_.push_back(std::make_unique<Worker>(net_.shape()));
  loss_.resize(batch_.size());
  q_.resize(batch_.size());
  errors_.resize(batch_.size());
  for (int first = 0; first < rows; first += chunk) {
    const int here = std::min(chunk, rows - first);
    pool.run((here + kTile - 1) / kTile, [&](int tile, int worker) {
      const int row = tile * kTile;
      run_tile(first + row, std::min(kTile, here - row), row, online, target,
               *workers_[static_cast<std::size_t>(worker)]);
    });
    pool.run(static_cast<int>(blocks_.size()), [&](int block, int) {
      net_.gradient_block(blocks_[static_cast<std::size_t>(block)], here, chunk_->state.data(), chunk_->online.at(0),
                          chunk_->slopes.at(0), first > 0, gradient_.data());
    });
  }
  LearnStats stats;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    stats.loss += static_cast<double>(loss_[i]);
    stats.q += static_cast<double>(q_[i]);
    stats.abs_q += std::abs(static_cast<double>(q_[i]));
  }
  stats.loss /= rows;
  stats.q /= rows;
  stats.abs_q /= rows;
  return stats;
}

/// Rows [first, first + rows) of the batch, into the chunk from its row `chunk_row` on.
void Learner::run_tile(int first, int rows, int chunk_row, const float* online, const float* target, Worker& worker) {
  const int state_size = market_.state_size();
  const Transition* batch = batch_.data() + first;
  float* state = chunk_->state.data() + static_cast<std::ptrdiff_t>(chunk_row) * state_size;
  for (int r = 0; r < rows; ++r) {
    market_.write_state(batch[r].bar, batch[r].now, state + static_cast<std::ptrdiff_t>(r) * state_size);
    market_.write_state(batch[r].next_bar, batch[r].next,
                        worker.next.data() + static_cast<std::ptrdiff_t>(r) * state_size);
  }
  const DuelingRows now = chunk_->online.at(chunk_row);
  const DuelingRows slopes = chunk_->slopes.at(chunk_row);
  const DuelingRows online_next = worker.online_next.at(0);
  const DuelingRows target_next = worker.target_next.at(0);
  net_.forward(online, rows, state, now);
  net_.first_layer(online, rows, worker.next.data(), online_next);
  net_.second_layer(online, rows, online_next);
  net_.advantage_stream(online, rows, online_next);
  net_.forward(target, rows, worker.next.data(), target_next);

  const float mean = 1.0f / static_cast<float>(batch_.size());
  const float delta = static_cast<float>(config_.huber_delta);
  for (int r = 0; r < rows; ++r) {
    const float next_q = net_.q(target_next, r, net_.greedy(online_next, r));
    const float y = td_target(batch[r].ret, batch[r].discount, next_q, batch[r].terminal != 0);
    const float q = net_.q(now, r, batch[r].action);
    net_.head_gradient(r, batch[r].action, batch[r].weight * huber_slope(q - y, delta) * mean, slopes);
    const std::size_t row = static_cast<std::size_t>(first + r);
    errors_[row] = q - y;
    loss_[row] = batch[r].weight * huber_loss(q - y, delta);
    q_[row] = q;
  }
  net_.backward(transposed_.data(), rows, now, slopes);
}

void Learner::refresh_transposed(std::span<const float> online) {
  for (const DenseLayer& layer : net_.layers()) {
    transpose_weights(layer, 0, layer.in, online.data(), transposed_.data());
  }
}

void Learner::sync_target(const LayerBlock& block, std::span<const float> online, std::span<float> target) const {
  const float* from = online.data();
  float* __restrict to = target.data();
  if (config_.target_sync == "hard") {
    if (optimiser_.steps() % config_.target_every == 0)
      std::copy(from + block.begin, from + block.end, to + block.begin);
    return;
  }
  const float tau = static_cast<float>(config_.tau);
  for (std::size_t i = block.begin; i < block.end; ++i) to[i] = polyak(to[i], from[i], tau);
}

CuriosityLearner::CuriosityLearner(const CuriosityConfig& config, const CuriosityShape& shape, const Market& market,
                                   const ActionTables& actions, std::uint64_t seed)
    : config_(config),
      net_(shape),
      market_(market),
      actions_(actions),
      seed_(seed),
      optimiser_(net_.layers(), AdamSettings{}),
      gradient_(net_.parameter_count()),
      transposed_(net_.transposed_count()),
      activations_(shape, static_cast<int>(config.batch)) {}

CuriosityStats CuriosityLearner::train(ThreadPool& pool, const Replay& replay, std::span<float> weights) {
  CuriosityStats stats;
  refresh_transposed(weights);
  for (std::int64_t b = 0; b < config_.batches; ++b) {
    batch_.clear();
    const auto update = static_cast<std::uint64_t>(optimiser_.steps());
    for (std::int64_t i = 0; i < config_.batch; ++i) {
      const Experience& e =
          replay.row(uniform_row(replay.ring(), seed_, static_cast<u32>(i), update, Draw::kCuriosity));
      if (e.bar >= 0) batch_.push_back(e);  // a classic row of zeros has nothing to predict
    }
    if (batch_.empty()) continue;
    stats.loss += run_batch(pool, weights.data());
    optimiser_.step(pool, gradient_, config_.learning_rate, weights, [&](const LayerBlock& block) {
      const DenseLayer& layer = net_.layers()[static_cast<std::size_t>(block.layer)];
      transpose_weights(layer, block.first, block.count, weights.data(), transposed_.data());
    });
  }
  stats.loss /= static_cast<double>(config_.batches);
  return stats;
}

double CuriosityLearner::gradient(ThreadPool& pool, const std::vector<Experience>& batch,
                                  std::span<const float> weights, std::vector<float>& gradient) {
  batch_ = batch;
  activations_ = CuriosityActivations(net_.shape(), static_cast<int>(batch.size()));
  refresh_transposed(weights);
  const double loss = run_batch(pool, weights.data());
  gradient.assign(gradient_.begin(), gradient_.end());
  return loss;
}

double CuriosityLearner::run_batch(ThreadPool& pool, const float* weights) {
  const int batch = static_cast<int>(batch_.size());
  const float mean = 1.0f / static_cast<float>(batch);
  errors_.resize(batch_.size());
  pool.run((batch + kTile - 1) / kTile, [&](int tile, int) {
    const int first = tile * kTile;
    const int rows = std::min(kTile, batch - first);
    const CuriosityRows act = activations_.at(first);
    for (int r = 0; r < rows; ++r) {
      const Experience& e = batch_[static_cast<std::size_t>(first + r)];
      net_.fill_row(market_, e.bar, static_cast<Category>(actions_.category[action_of(e)]), r, act);
    }
    net_.forward(weights, rows, act, errors_.data() + first);
    net_.backward(transposed_.data(), rows, mean, act);
  });
  net_.gradient(batch, activations_.at(0), gradient_.data());
  double loss = 0;
  for (const float error : errors_) loss += static_cast<double>(error);
  return loss / batch;
}

void CuriosityLearner::refresh_transposed(std::span<const float> weights) {
  for (const DenseLayer& layer : net_.layers()) {
    transpose_weights(layer, 0, layer.in, weights.data(), transposed_.data());
  }
}

}  // namespace warptape::cpu
