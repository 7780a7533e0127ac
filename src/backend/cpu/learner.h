// Double-DQN and curiosity updates (docs/domain.md, section 6). A batch goes in chunks of rows: over tiles of a chunk
// forward and backward, then over blocks of the weights their gradient, each element one sum over all rows in order.
// So nothing hangs on tiles, chunks or threads.
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/curiosity_net.h"
#include "backend/cpu/dueling_net.h"
#include "backend/cpu/optimiser.h"
#include "backend/cpu/replay.h"
#include "backend/cpu/states.h"
#include "env/params.h"
#include "warptape/backend.h"

namespace warptape::cpu {

class Learner {
 public:
  Learner(const LearnConfig& config, const DuelingShape& shape, const Market& market, std::uint64_t seed);
  ~Learner();

  /// `request.updates` updates of `online` from the replay; `target` follows as configured, and so do the priorities of
  /// what was drawn.
  LearnStats learn(ThreadPool& pool, Replay& replay, const LearnRequest& request, std::span<float> online,
                   std::span<float> target);

  /// Gradient of the mean weighted loss over `batch`, and its statistics; the weights stay. For tests.
  LearnStats gradient(ThreadPool& pool, const std::vector<Transition>& batch, std::span<const float> online,
                      std::span<const float> target, std::vector<float>& gradient);
  /// The same for one-step returns of weight 1.
  LearnStats gradient(ThreadPool& pool, const std::vector<Experience>& batch, std::span<const float> online,
                      std::span<const float> target, std::vector<float>& gradient);

  Optimiser& optimiser() { return optimiser_; }
  const Optimiser& optimiser() const { return optimiser_; }

 private:
  struct Chunk;
  struct Worker;

  void draw(const Replay& replay, std::uint64_t update, double beta);
  /// gradient_ of the batch by weights that transposed_ mirrors.
  LearnStats run_batch(ThreadPool& pool, const float* online, const float* target);
  void run_tile(int first, int rows, int chunk_row, const float* online, const float* target, Worker& worker);
  void refresh_transposed(std::span<const float> online);
  void sync_target(const LayerBlock& block, std::span<const float> online, std::span<float> target) const;

  LearnConfig config_;
  DuelingNet net_;
  Market market_;
  std::uint64_t seed_;
  Optimiser optimiser_;
  std::vector<LayerBlock> blocks_;
  std::vector<std::int64_t> rows_;  // [batch] where the replay keeps what was drawn
  std::vector<Transition> batch_;
  std::vector<float> loss_, q_, errors_;  // [batch]; errors: Q − target
  Floats gradient_, transposed_;
  std::unique_ptr<Chunk> chunk_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

class CuriosityLearner {
 public:
  CuriosityLearner(const CuriosityConfig& config, const CuriosityShape& shape, const Market& market,
                   const ActionTables& actions, std::uint64_t seed);

  CuriosityStats train(ThreadPool& pool, const Replay& replay, std::span<float> weights);

  /// Gradient of the mean squared error over `batch`. For tests.
  double gradient(ThreadPool& pool, const std::vector<Experience>& batch, std::span<const float> weights,
                  std::vector<float>& gradient);

  Optimiser& optimiser() { return optimiser_; }
  const Optimiser& optimiser() const { return optimiser_; }

 private:
  double run_batch(ThreadPool& pool, const float* weights);
  void refresh_transposed(std::span<const float> weights);

  CuriosityConfig config_;
  CuriosityNet net_;
  Market market_;
  ActionTables actions_;
  std::uint64_t seed_;
  Optimiser optimiser_;
  std::vector<Experience> batch_;
  std::vector<float> errors_;  // [batch]
  Floats gradient_, transposed_;
  CuriosityActivations activations_;  // [curiosity.batch]
};

}  // namespace warptape::cpu
