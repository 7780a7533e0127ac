// What a backend does: it owns dataset, slots, replay, networks and optimiser, and hands out scalars. No call moves an
// experience to the host except download().
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "warptape/config.h"
#include "warptape/dataset.h"

namespace warptape {

class TensorMap;

enum class Network : std::uint8_t { kOnline, kTarget, kCuriosity };

/// What a round is to compute beside what training needs.
struct Outputs {
  bool target_q = false;    ///< max of the target network at the true next state
  bool td_error = false;    ///< |reward + γ·target_q·(1 − terminal) − q_selected|
  bool components = false;  ///< the reward's four components
};

struct CollectRequest {
  double epsilon = 0;
  Outputs outputs;
};

struct CollectStats {
  double mean_reward = 0;
  double mean_return = 0;     ///< mean of (next equity − equity)/equity a step
  std::int64_t steps = 0;     ///< experiences made
  std::int64_t episodes = 0;  ///< episodes that ended
  std::int64_t ruins = 0;
  double largest_reward = 0;  ///< largest |reward| of a step
};

struct LearnRequest {
  std::int64_t updates = 0;
  double learning_rate = 0;
  double beta = 1;  ///< exponent of the importance weights; without replay.prioritised it has no effect
};

struct LearnStats {
  std::int64_t updates = 0;
  double loss = 0;           ///< mean Huber loss
  double q = 0;              ///< mean Q of the drawn actions
  double abs_q = 0;          ///< mean |Q| of the drawn actions
  double gradient_norm = 0;  ///< mean global norm before clipping
};

struct CuriosityStats {
  double loss = 0;  ///< mean squared error
};

/// A round's experiences, [L, N] row-major: row = step·N + slot.
struct Experiences {
  std::int64_t episodes = 0, steps = 0;  ///< N, L
  std::vector<std::int32_t> bar;         ///< dataset row of the state; -1: a row of zeros (classic rules)
  std::vector<float> portfolio;          ///< [L·N, 3]
  std::vector<float> next_portfolio;     ///< [L·N, 3], of the true next state, at row bar + 1
  std::vector<std::int32_t> action;
  std::vector<float> reward;
  std::vector<std::uint8_t> terminal, truncated;
  std::vector<float> target_q, q_selected, td_error;  ///< empty unless asked for
  std::vector<float> components;  ///< [L·N, 4] return, risk, diversity, curiosity; empty unless asked for
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;

  /// Plays one round of N episodes × L steps with the online network and puts it into the replay.
  virtual CollectStats collect(const CollectRequest& request) = 0;
  /// Double-DQN updates from the replay; target synchronisation included.
  virtual LearnStats learn(const LearnRequest& request) = 0;
  /// One training of the curiosity model: curiosity.batches batches from the replay.
  virtual CuriosityStats train_curiosity() = 0;

  /// The last round's experiences, copied to the host.
  virtual Experiences download() const = 0;

  /// A network's parameters in the layout of dueling_tensors() or curiosity_tensors().
  virtual std::vector<float> weights(Network network) const = 0;
  /// Replaces a network's parameters by the named tensors of docs/domain.md, section 5. Throws Error on a wrong name or
  /// shape; `origin` names the source.
  virtual void sync(Network network, const TensorMap& tensors, const std::string& prefix,
                    const std::string& origin) = 0;

  /// Beside the networks' weights, everything a resumed run needs to go on with the same numbers: optimisers, slots,
  /// replay, counters. The tensors borrow from the backend until its next call.
  virtual void save_state(TensorMap& tensors) const = 0;
  virtual void load_state(const TensorMap& tensors, const std::string& origin) = 0;
};

/// A CPU backend over a training dataset. Results do not depend on config.threads.
std::unique_ptr<Backend> make_cpu_backend(const Config& config, const Dataset& train);

}  // namespace warptape
