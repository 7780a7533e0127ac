// The CPU backend: collector, replay, learner and curiosity over one thread pool.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backend/cpu/collector.h"
#include "backend/cpu/learner.h"
#include "backend/cpu/replay.h"
#include "core/check.h"
#include "env/make_params.h"
#include "net/init.h"
#include "net/shapes.h"
#include "net/tensor_map.h"
#include "net/tensors.h"
#include "warptape/backend.h"
#include "warptape/error.h"

namespace warptape::cpu {

namespace {

ReplayRules replay_rules(const Config& config) {
  ReplayRules rules;
  rules.n_step = static_cast<int>(config.learn.n_step);
  rules.rounds_jump = config.env.rules == RuleSet::kClassic;
  rules.prioritised = config.replay.prioritised;
  rules.alpha = static_cast<float>(config.replay.alpha);
  rules.epsilon = static_cast<float>(config.replay.epsilon);
  return rules;
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Config& config, const Dataset& train)
      : config_(config),
        dataset_(train),
        params_(make_params(config.env)),
        market_{dataset_.market.data(), dataset_.features},
        dueling_shape_(dueling_shape(config, dataset_.features)),
        curiosity_shape_(curiosity_shape(config, dataset_.features)),
        dueling_(dueling_shape_),
        curiosity_net_(curiosity_shape_),
        pool_(static_cast<int>(config.threads)),
        collector_(make_collector(config.env.rules, collector_setup())),
        replay_(config.collect.episodes, config.replay.capacity, replay_rules(config)),
        learner_(config.learn, dueling_shape_, market_, config.seed),
        curiosity_learner_(config.curiosity, curiosity_shape_, market_, params_.actions, config.seed) {
    online_ = initial_weights(dueling_tensors(dueling_shape_), 0, dueling_.layers());
    target_ = online_;
    curiosity_ = initial_weights(curiosity_tensors(curiosity_shape_), 1, curiosity_net_.layers());
  }

  std::string name() const override { return "cpu"; }

  CollectStats collect(const CollectRequest& request) override {
    RoundInputs inputs;
    inputs.online = online_.data();
    inputs.target = target_.data();
    inputs.curiosity = curiosity_.data();
    inputs.epsilon = request.epsilon;
    inputs.outputs = request.outputs;
    CollectStats stats = collector_->play_round(pool_, inputs, round_);
    for (const Experience& e : round_.rows) {
      stats.largest_reward = std::max(stats.largest_reward, std::fabs(static_cast<double>(e.reward)));
    }
    replay_.insert(round_.rows);
    return stats;
  }

  LearnStats learn(const LearnRequest& request) override {
    return learner_.learn(pool_, replay_, request, online_, target_);
  }

  CuriosityStats train_curiosity() override {
    const CuriosityStats stats = curiosity_learner_.train(pool_, replay_, curiosity_);
    collector_->forget_curiosity();
    return stats;
  }

  Experiences download() const override;

  std::vector<float> weights(Network network) const override {
    std::vector<float> files(static_cast<std::size_t>(parameter_count(specs(network))));
    transpose_layers(layers(network), true, parameters(network), files);
    return files;
  }

  void sync(Network network, const TensorMap& tensors, const std::string& prefix, const std::string& origin) override {
    std::vector<float> files(static_cast<std::size_t>(parameter_count(specs(network))));
    take_network(tensors, prefix, specs(network), files, origin);
    transpose_layers(layers(network), false, files, mutable_parameters(network));
    if (network == Network::kCuriosity) collector_->forget_curiosity();
  }

  void save_state(TensorMap& tensors) const override;
  void load_state(const TensorMap& tensors, const std::string& origin) override;

 private:
  CollectorSetup collector_setup() const {
    return {&dataset_,
            params_,
            dueling_shape_,
            curiosity_shape_,
            config_.collect.episodes,
            config_.collect.steps,
            config_.seed,
            static_cast<float>(config_.learn.gamma),
            config_.collect.precision == "bfloat16"};
  }

  Floats initial_weights(const std::vector<TensorSpec>& tensors, u32 network, std::span<const DenseLayer> dense) const {
    u64 drawn = 0;
    std::vector<float> files(static_cast<std::size_t>(parameter_count(tensors)));
    init_network(tensors, files, [&] {
      return static_cast<float>(unit_interval(random_words(config_.seed, network, drawn++, Draw::kInit).word[0]));
    });
    Floats inside(dense.back().end());
    transpose_layers(dense, false, files, inside);
    return inside;
  }

  const Floats& parameters(Network network) const {
    return network == Network::kOnline ? online_ : network == Network::kTarget ? target_ : curiosity_;
  }
  Floats& mutable_parameters(Network network) {
    return network == Network::kOnline ? online_ : network == Network::kTarget ? target_ : curiosity_;
  }
  std::span<const DenseLayer> layers(Network network) const {
    return network == Network::kCuriosity ? curiosity_net_.layers() : dueling_.layers();
  }
  std::vector<TensorSpec> specs(Network network) const {
    return network == Network::kCuriosity ? curiosity_tensors(curiosity_shape_) : dueling_tensors(dueling_shape_);
  }

  Config config_;
  Dataset dataset_;
  EnvParams params_;
  Market market_;
  DuelingShape dueling_shape_;
  CuriosityShape curiosity_shape_;
  DuelingNet dueling_;
  CuriosityNet curiosity_net_;
  ThreadPool pool_;
  std::unique_ptr<Collector> collector_;
  Replay replay_;
  Learner learner_;
  CuriosityLearner curiosity_learner_;
  Floats online_, target_, curiosity_;  // laid out as layers.h says
  RoundBuffers round_;
};

Experiences CpuBackend::download() const {
  Experiences out;
  out.episodes = config_.collect.episodes;
  out.steps = static_cast<std::int64_t>(round_.rows.size()) / out.episodes;
  for (const Experience& e : round_.rows) {
    out.bar.push_back(e.bar);
    out.portfolio.insert(out.portfolio.end(), e.now, e.now + kPortfolioNumbers);
    out.next_portfolio.insert(out.next_portfolio.end(), e.next, e.next + kPortfolioNumbers);
    out.action.push_back(action_of(e));
    out.reward.push_back(e.reward);
    out.terminal.push_back(is_terminal(e) ? 1 : 0);
    out.truncated.push_back(is_truncated(e) ? 1 : 0);
  }
  out.target_q = round_.target_q;
  out.q_selected = round_.q_selected;
  out.td_error = round_.td_error;
  out.components = round_.components;
  return out;
}

Shape length(std::size_t n) {
  return {static_cast<std::int64_t>(n)};
}

void CpuBackend::save_state(TensorMap& tensors) const {
  for (const auto& [prefix, optimiser] : {std::pair{"optimiser", &learner_.optimiser()},
                                          std::pair{"curiosity_optimiser", &curiosity_learner_.optimiser()}}) {
    const std::string p = prefix;
    tensors.set_view<float>(p + ".moment1", length(optimiser->moment1().size()), optimiser->moment1());
    tensors.set_view<float>(p + ".moment2", length(optimiser->moment2().size()), optimiser->moment2());
  }
  const std::vector<std::uint8_t> slots = collector_->slot_bytes();
  tensors.set<std::uint8_t>("slots", length(slots.size()), slots);
  const Ring& ring = replay_.ring();
  const std::span<const std::uint8_t> rows{reinterpret_cast<const std::uint8_t*>(replay_.rows().data()),
                                           static_cast<std::size_t>(ring.filled) * sizeof(Experience)};
  tensors.set_view<std::uint8_t>("replay.rows", {ring.filled, static_cast<std::int64_t>(sizeof(Experience))}, rows);
  if (replay_.rules().prioritised) {
    tensors.set<float>("replay.masses", {ring.filled}, replay_.masses());
    tensors.set<float>("replay.largest_mass", {1}, std::array{replay_.largest_mass()});
  }
  const std::array<std::int64_t, 5> counters = {static_cast<std::int64_t>(collector_->steps_taken()), ring.filled,
                                                ring.head, learner_.optimiser().steps(),
                                                curiosity_learner_.optimiser().steps()};
  tensors.set<std::int64_t>("counters", length(counters.size()), counters);
}

/// Refuses masses that no replay has: a row that may be drawn has one above 0, any other has 0.
void check_masses(const Ring& ring, const std::vector<Experience>& rows, std::span<const float> masses, float largest,
                  int n_step, const std::string& origin) {
  const auto is_mass = [](float mass) { return std::isfinite(mass) && mass > 0; };
  if (!is_mass(largest)) {
    fail("{}: replay.largest_mass is {}, which is no priority; the checkpoint is damaged", origin, largest);
  }
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const bool drawable = is_drawable(ring, rows.data(), static_cast<i64>(i), n_step);
    if (drawable ? is_mass(masses[i]) : masses[i] == 0) continue;
    fail("{}: replay.masses holds {} for row {}, where a priority {} is expected; the checkpoint is damaged", origin,
         masses[i], i, drawable ? "above 0" : "of 0 (its return is not complete)");
  }
}

void CpuBackend::load_state(const TensorMap& tensors, const std::string& origin) {
  const auto counters = tensors.get<std::int64_t>("counters", {5});
  Ring ring = replay_.ring();
  ring.filled = counters[1];
  ring.head = counters[2];
  if (ring.filled < 0 || ring.filled > ring.capacity || ring.head < 0 || ring.head >= ring.capacity) {
    fail("{}: the replay's counters do not fit replay.capacity; resume with the run's own configuration", origin);
  }
  const auto bytes =
      tensors.get<std::uint8_t>("replay.rows", {ring.filled, static_cast<std::int64_t>(sizeof(Experience))});
  std::vector<Experience> rows(static_cast<std::size_t>(ring.filled));
  std::memcpy(rows.data(), bytes.data(), bytes.size());
  for (const Experience& e : rows) {
    if (e.bar < -1 || e.bar + 1 >= dataset_.bars() || action_of(e) >= params_.actions.count) {
      fail("{}: the replay names bar {} and action {}, which this dataset and configuration do not have", origin, e.bar,
           action_of(e));
    }
  }
  std::span<const float> masses;
  float largest_mass = 1;
  if (replay_.rules().prioritised) {
    masses = tensors.get<float>("replay.masses", {ring.filled});
    largest_mass = tensors.get<float>("replay.largest_mass", {1})[0];
    check_masses(ring, rows, masses, largest_mass, replay_.rules().n_step, origin);
  }
  const auto slots = tensors.get<std::uint8_t>("slots", length(collector_->slot_byte_count()));
  const auto load_moments = [&](const std::string& prefix, Optimiser& optimiser, std::int64_t steps) {
    const Shape shape = length(optimiser.moment1().size());
    const auto moment1 = tensors.get<float>(prefix + ".moment1", shape);
    const auto moment2 = tensors.get<float>(prefix + ".moment2", shape);
    optimiser.moment1().assign(moment1.begin(), moment1.end());
    optimiser.moment2().assign(moment2.begin(), moment2.end());
    optimiser.set_steps(steps);
  };
  load_moments("optimiser", learner_.optimiser(), counters[3]);
  load_moments("curiosity_optimiser", curiosity_learner_.optimiser(), counters[4]);
  collector_->set_slot_bytes(slots);
  collector_->set_steps_taken(static_cast<std::uint64_t>(counters[0]));
  replay_.restore(ring, std::move(rows), masses, largest_mass);
}

}  // namespace

}  // namespace warptape::cpu

namespace warptape {

std::unique_ptr<Backend> make_cpu_backend(const Config& config, const Dataset& train) {
  return std::make_unique<cpu::CpuBackend>(config, train);
}

}  // namespace warptape
