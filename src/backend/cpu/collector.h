// Plays rounds: tiles of episodes over threads, the networks batched over a tile (docs/domain.md, section 6).
#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/curiosity_table.h"
#include "backend/cpu/dueling_net.h"
#include "backend/cpu/market_layer.h"
#include "backend/cpu/states.h"
#include "backend/cpu/thread_pool.h"
#include "env/params.h"
#include "replay/experience.h"
#include "warptape/backend.h"

namespace warptape::cpu {

/// A round's results, row = step·N + slot.
struct RoundBuffers {
  std::vector<Experience> rows;                       // [L·N]
  std::vector<float> target_q, q_selected, td_error;  // [L·N] when asked for; q_selected comes with td_error
  std::vector<float> components;                      // [L·N, 4] when asked for
};

/// What a round reads; parameters are [in, out] by layer.
struct RoundInputs {
  const float* online = nullptr;
  const float* target = nullptr;
  const float* curiosity = nullptr;
  double epsilon = 0;
  Outputs outputs;
};

class Collector {
 public:
  virtual ~Collector() = default;

  virtual CollectStats play_round(ThreadPool& pool, const RoundInputs& inputs, RoundBuffers& buffers) = 0;
  /// To be called when the curiosity model's weights have changed.
  virtual void forget_curiosity() = 0;

  /// The slots' bytes and the number of steps that each slot has taken since the beginning: all that lives between
  /// rounds.
  virtual std::vector<std::uint8_t> slot_bytes() const = 0;
  /// Throws Error when a slot stands outside the dataset.
  virtual void set_slot_bytes(std::span<const std::uint8_t> bytes) = 0;
  virtual std::size_t slot_byte_count() const = 0;
  virtual std::uint64_t steps_taken() const = 0;
  virtual void set_steps_taken(std::uint64_t steps) = 0;
};

/// What the collectors of both rule sets are made from; the dataset must outlive the collector.
struct CollectorSetup {
  const Dataset* dataset = nullptr;
  EnvParams params;
  DuelingShape dueling;
  CuriosityShape curiosity;
  std::int64_t episodes = 0, steps = 0;
  std::uint64_t seed = 0;
  float gamma = 0;
  bool half = false;  ///< the networks' products with operands rounded to bfloat16
};

std::unique_ptr<Collector> make_collector(RuleSet rules, const CollectorSetup& setup);

}  // namespace warptape::cpu
