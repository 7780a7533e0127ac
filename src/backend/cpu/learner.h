// Double-DQN and curiosity updates over tiles of a batch (docs/domain.md, section 6).
#pragma once

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

  /// `request.updates` updates of `online` from the replay; `target` follows as configured.
  LearnStats learn(ThreadPool& pool, const Replay& replay, const LearnRequest& request, std::span<float> online,
                   std::span<float> target);

  /// Gradient of the mean loss over `batch`, summed over tiles, and its statistics; the weights stay. For tests.
  LearnStats gradient(ThreadPool& pool, const std::vector<Experience>& batch, std::span<const float> online,
                      std::span<const float> target, std::vector<float>& gradient);

  Optimiser& optimiser() { return optimiser_; }
  const Optimiser& optimiser() const { return optimiser_; }

 private:
  struct Scratch;
  struct TileSums {
    double loss = 0, q = 0, abs_q = 0;
  };

  void draw(const Replay& replay, std::uint64_t update);
  LearnStats run_tiles(ThreadPool& pool, const float* online, const float* target);
  TileSums run_tile(int tile, const float* online, const float* target, Scratch& scratch, float* gradient) const;
  void sync_target(std::span<const float> online, std::span<float> target) const;

  LearnConfig config_;
  DuelingNet net_;
  Market market_;
  std::uint64_t seed_;
  Optimiser optimiser_;
  std::vector<Experience> batch_;
  std::vector<std::vector<float>> gradients_;  // [tiles][parameters]
  std::vector<TileSums> sums_;
  std::vector<std::shared_ptr<Scratch>> scratch_;  // [workers]
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
  double run_tiles(ThreadPool& pool, const float* weights);

  CuriosityConfig config_;
  CuriosityNet net_;
  Market market_;
  ActionTables actions_;
  std::uint64_t seed_;
  Optimiser optimiser_;
  std::vector<Experience> batch_;
  std::vector<std::vector<float>> gradients_;
  std::vector<std::unique_ptr<CuriosityActivations>> scratch_;
};

}  // namespace warptape::cpu
