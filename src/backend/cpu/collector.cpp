#include "backend/cpu/collector.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>

#include "backend/cpu/dueling_net.h"
#include "backend/cpu/half_layers.h"
#include "core/check.h"
#include "env/step.h"
#include "learn/td.h"
#include "market/dataset.h"
#include "warptape/error.h"

namespace warptape::cpu {

namespace {

// Slots of a tile, at most: their activations stay in the first two caches. No result hangs on it.
constexpr int kTile = CuriosityTable::kRows;
// Slots whose statistics are summed together, in a fixed order; tiles are made of whole groups.
constexpr int kSumSlots = 8;

/// Slots of a tile, such that all threads have one.
int tile_slots(std::int64_t episodes, int threads) {
  const std::int64_t share = (episodes + threads - 1) / threads;
  return static_cast<int>(std::min<std::int64_t>(kTile, (share + kSumSlots - 1) / kSumSlots * kSumSlots));
}

/// One worker's scratch.
template <Rules R>
struct TileScratch {
  using T = Money<R>;
  TileScratch(const CollectorSetup& s, int state_size)
      : state(static_cast<std::size_t>(kTile * state_size)),
        bar(kTile),
        numbers(kTile * kPortfolioNumbers),
        online(s.dueling, kTile),
        target(s.dueling, kTile),
        curiosity(s.curiosity),
        result(kTile),
        q_selected(kTile) {}
  // States to evaluate: either whole, or what the market's layer needs.
  Floats state;                // [kTile, S]
  std::vector<i32> bar;        // [kTile]
  std::vector<float> numbers;  // [kTile, 3]
  DuelingActivations online, target;
  CuriosityTable::Scratch curiosity;
  std::array<CuriosityTable::Key, kTile> keys{};
  std::array<float, kTile> errors{}, error{};  // of keys; of slots
  std::vector<StepResult<T>> result;
  std::vector<float> q_selected;
};

/// Where a tile's rows go: step t of the tile's slots begins at row `at`.
struct TileStep {
  std::int64_t first_slot;
  int slots;
  std::int64_t row;
  std::uint64_t global_step;
};

template <Rules R>
class RuleCollector final : public Collector {
 public:
  using T = Money<R>;

  explicit RuleCollector(const CollectorSetup& setup)
      : setup_(setup),
        market_{setup.dataset->market.data(), setup.dataset->features},
        net_(setup.dueling),
        tables_(MarketLayer::pays(net_.layers()[kShared0], setup.dataset->bars(), setup.episodes * setup.steps)),
        curiosity_(setup.curiosity, market_, setup.params.curiosity_weight > 0 ? setup.dataset->bars() : 0),
        starts_(usable_starts(*setup.dataset, setup.params.episode_length)),
        total_starts_(std::accumulate(starts_.begin(), starts_.end(), std::int64_t{0})),
        slots_(static_cast<std::size_t>(setup.episodes)) {
    static_assert(std::is_trivially_copyable_v<Slot<T>>);
    if (setup.half) {
      online_half_.emplace(net_);
      target_half_.emplace(net_);
    }
    CHECK(total_starts_ > 0 && total_starts_ < std::int64_t{1} << 32);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      slots_[s].lcg = random_words(setup_.seed, static_cast<u32>(s), 0, Draw::kClassic).word[0];
      restart(static_cast<u32>(s));
    }
  }

  CollectStats play_round(ThreadPool& pool, const RoundInputs& inputs, RoundBuffers& buffers) override {
    prepare(inputs, buffers);
    while (static_cast<int>(scratch_.size()) < pool.size()) {
      scratch_.push_back(std::make_unique<TileScratch<R>>(setup_, market_.state_size()));
    }
    const bool evaluates_target = inputs.outputs.target_q || inputs.outputs.td_error;
    if (tables_) {
      const DenseLayer& layer = net_.layers()[kShared0];
      online_market_.fill(pool, layer, inputs.online, market_, setup_.dataset->bars());
      if (evaluates_target) target_market_.fill(pool, layer, inputs.target, market_, setup_.dataset->bars());
    }
    if (setup_.half) {
      online_half_->refresh(inputs.online);
      if (evaluates_target) target_half_->refresh(inputs.target);
    }
    stats_.assign(static_cast<std::size_t>((setup_.episodes + kSumSlots - 1) / kSumSlots), {});
    const int slots = tile_slots(setup_.episodes, pool.size());
    pool.run(static_cast<int>((setup_.episodes + slots - 1) / slots), [&](int tile, int worker) {
      const std::int64_t first = static_cast<std::int64_t>(tile) * slots;
      const int here = static_cast<int>(std::min<std::int64_t>(slots, setup_.episodes - first));
      play_tile(first, here, inputs, buffers, *scratch_[static_cast<std::size_t>(worker)]);
    });
    steps_taken_ += static_cast<std::uint64_t>(setup_.steps);
    return total(stats_);
  }

  void forget_curiosity() override { curiosity_.clear(); }

  std::vector<std::uint8_t> slot_bytes() const override {
    std::vector<std::uint8_t> bytes(slot_byte_count());
    std::memcpy(bytes.data(), slots_.data(), bytes.size());
    return bytes;
  }
  void set_slot_bytes(std::span<const std::uint8_t> bytes) override {
    CHECK_EQ(bytes.size(), slot_byte_count());
    std::vector<Slot<T>> slots(slots_.size());
    std::memcpy(slots.data(), bytes.data(), bytes.size());
    for (const Slot<T>& slot : slots) {
      const bool inside = slot.bar >= 0 && slot.bar <= slot.last_bar && slot.last_bar < setup_.dataset->bars();
      if (!inside) fail("the slots stand at bar {} of {}, which this dataset does not have", slot.bar, slot.last_bar);
    }
    slots_ = std::move(slots);
  }
  std::size_t slot_byte_count() const override { return slots_.size() * sizeof(Slot<T>); }
  std::uint64_t steps_taken() const override { return steps_taken_; }
  void set_steps_taken(std::uint64_t steps) override { steps_taken_ = steps; }

 private:
  void prepare(const RoundInputs& inputs, RoundBuffers& buffers) const {
    const std::size_t rows = static_cast<std::size_t>(setup_.episodes * setup_.steps);
    buffers.rows.resize(rows);
    buffers.target_q.resize(inputs.outputs.target_q ? rows : 0);
    buffers.q_selected.resize(inputs.outputs.td_error ? rows : 0);
    buffers.td_error.resize(inputs.outputs.td_error ? rows : 0);
    buffers.components.resize(inputs.outputs.components ? rows * 4 : 0);
  }

  /// Moves a slot to a new random start: its segment by the number of usable starts, its bar uniformly.
  void jump(u32 slot_index) {
    Slot<T>& slot = slots_[slot_index];
    const Philox4 words = random_words(setup_.seed, slot_index, slot.episode, Draw::kStart);
    std::int64_t start = below(words.word[0], static_cast<u32>(total_starts_));
    std::size_t segment = 0;
    while (start >= starts_[segment]) start -= starts_[segment++];
    const Segment& where = setup_.dataset->segments[segment];
    slot.bar = static_cast<i32>(where.first + start);
    slot.last_bar = static_cast<i32>(where.first + where.count - 1);
  }

  void restart(u32 slot_index) {
    jump(slot_index);
    Slot<T>& slot = slots_[slot_index];
    begin_episode<R>(setup_.params, slot, close(slot.bar));
  }

  double close(i32 bar) const { return setup_.dataset->close[static_cast<std::size_t>(bar)]; }

  void play_tile(std::int64_t first_slot, int slots, const RoundInputs& inputs, RoundBuffers& buffers,
                 TileScratch<R>& scratch) {
    TileStep at{};
    at.first_slot = first_slot;
    at.slots = slots;
    if constexpr (R.round_keeps_portfolio) {
      // Classic rounds: the bar jumps and the step counter restarts, whatever is held goes on.
      for (int i = 0; i < at.slots && steps_taken_ > 0; ++i) {
        Slot<T>& slot = slots_[static_cast<std::size_t>(at.first_slot + i)];
        jump(static_cast<u32>(at.first_slot + i));
        ++slot.episode;
        slot.steps = 0;
      }
    }
    for (std::int64_t t = 0; t < setup_.steps; ++t) {
      at.row = t * setup_.episodes + at.first_slot;
      at.global_step = steps_taken_ + static_cast<std::uint64_t>(t);
      act(at, inputs, buffers, scratch);
      finish_rewards(at, inputs, buffers, scratch);
      if (inputs.outputs.target_q || inputs.outputs.td_error) evaluate_targets(at, inputs, buffers, scratch);
    }
  }

  /// Observes, chooses and steps every slot of the tile; a slot whose episode ended restarts after its true next state
  /// was written down.
  void act(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    for (int i = 0; i < at.slots; ++i) {
      Slot<T>& slot = slots_[static_cast<std::size_t>(at.first_slot + i)];
      Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
      e = {};
      e.bar = slot.bar < slot.last_bar ? slot.bar : -1;
      if (e.bar >= 0) set_numbers(e.now, observe<R>(setup_.params, slot.portfolio, static_cast<T>(close(e.bar))));
      put_state(e.bar, e.now, i, scratch);
    }
    const DuelingRows act = scratch.online.at(0);
    evaluate(inputs.online, online_market_, online_half_, inputs.outputs.td_error, at.slots, scratch, act);
    for (int i = 0; i < at.slots; ++i) step_slot(at, i, inputs, buffers, scratch);
  }

  /// Row `i` of the states that evaluate() takes.
  void put_state(i32 bar, const float* numbers, int i, TileScratch<R>& scratch) const {
    if (!tables_) {
      market_.write_state(bar, numbers, scratch.state.data() + static_cast<std::ptrdiff_t>(i) * market_.state_size());
      return;
    }
    scratch.bar[static_cast<std::size_t>(i)] = bar;
    std::copy_n(numbers, kPortfolioNumbers,
                scratch.numbers.data() + static_cast<std::ptrdiff_t>(i) * kPortfolioNumbers);
  }

  /// The advantages of the states that put_state() has put, and their values where asked for.
  void evaluate(const float* parameters, const MarketLayer& market, const std::optional<HalfLayers>& half,
                bool values_too, int rows, const TileScratch<R>& scratch, const DuelingRows& act) const {
    if (tables_) {
      market.finish(net_.layers()[kShared0], parameters, rows, scratch.bar.data(), scratch.numbers.data(),
                    act.hidden_0);
    } else {
      net_.first_layer(parameters, rows, scratch.state.data(), act);
    }
    if (half) {
      half->second_layer(rows, act);
      half->advantage_stream(rows, act);
      if (values_too) half->value_stream(rows, act);
      return;
    }
    net_.second_layer(parameters, rows, act);
    net_.advantage_stream(parameters, rows, act);
    if (values_too) net_.value_stream(parameters, rows, act);
  }

  void step_slot(const TileStep& at, int i, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    const u32 index = static_cast<u32>(at.first_slot + i);
    Slot<T>& slot = slots_[index];
    Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
    StepResult<T>& result = scratch.result[static_cast<std::size_t>(i)];
    const int actions = setup_.dueling.actions;
    const DuelingRows act = scratch.online.at(0);
    if (e.bar < 0) {
      e.action_flags = pack_action(0, true, false);
      result = {};
      result.equity = 1;  // counts as no return
      result.next_equity = 1;
      scratch.q_selected[static_cast<std::size_t>(i)] = 0;
      return;
    }
    const int action =
        explore<R>(slot, setup_.seed, index, at.global_step, inputs.epsilon, actions, net_.greedy(act, i));
    const std::size_t next = static_cast<std::size_t>(e.bar) + 1;
    const Dataset& d = *setup_.dataset;
    result =
        step<R>(setup_.params, slot, action, {close(e.bar), d.open[next], d.high[next], d.low[next], d.close[next]});
    set_numbers(e.next, observe<R>(setup_.params, slot.portfolio, result.next_price));
    e.action_flags = pack_action(action, result.terminal, result.truncated);
    if (inputs.outputs.td_error) scratch.q_selected[static_cast<std::size_t>(i)] = net_.q(act, i, action);
    if (!result.terminal && !result.truncated) return;
    if constexpr (R.restart_at_random) {
      restart(index);
    } else {
      begin_episode<R>(setup_.params, slot, close(slot.bar));
    }
  }

  static void set_numbers(float* numbers, const Observation& o) {
    std::copy(o.number, o.number + kPortfolioNumbers, numbers);
  }

  /// Curiosity for the tile in one batch, then each reward, and the round's statistics.
  void finish_rewards(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    const bool curious = setup_.params.curiosity_weight > 0;
    if (curious) predict(at, inputs, buffers, scratch);
    for (int i = 0; i < at.slots; ++i) {
      const std::size_t row = static_cast<std::size_t>(at.row + i);
      Experience& e = buffers.rows[row];
      const StepResult<T>& result = scratch.result[static_cast<std::size_t>(i)];
      const bool counts = curious && !result.ruin && e.bar >= 0;
      const T curiosity = counts ? curiosity_term<T>(setup_.params, scratch.error[static_cast<std::size_t>(i)]) : T(0);
      e.reward = static_cast<float>(total_reward(result.reward, result.ruin, curiosity));
      if (inputs.outputs.components) {
        const std::size_t c = row * 4;
        buffers.components[c] = static_cast<float>(result.reward.ret);
        buffers.components[c + 1] = static_cast<float>(result.reward.risk);
        buffers.components[c + 2] = static_cast<float>(result.reward.diversity);
        buffers.components[c + 3] = static_cast<float>(curiosity);
      }
      CollectStats& stats = stats_[static_cast<std::size_t>(at.first_slot + i) / kSumSlots];
      ++stats.steps;
      stats.mean_reward += static_cast<double>(e.reward);
      if (result.equity > 0) stats.mean_return += static_cast<double>(result.next_equity / result.equity) - 1.0;
      stats.episodes += result.terminal || result.truncated ? 1 : 0;
      stats.ruins += result.ruin ? 1 : 0;
    }
  }

  void predict(const TileStep& at, const RoundInputs& inputs, const RoundBuffers& buffers, TileScratch<R>& scratch) {
    std::size_t rows = 0;
    std::array<std::size_t, kTile> slot{};  // of each key
    for (int i = 0; i < at.slots; ++i) {
      const Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
      if (e.bar < 0) continue;
      scratch.keys[rows] = {e.bar, static_cast<Category>(setup_.params.actions.category[action_of(e)])};
      slot[rows++] = static_cast<std::size_t>(i);
    }
    curiosity_.errors(inputs.curiosity, {scratch.keys.data(), rows}, scratch.curiosity, scratch.errors.data());
    for (std::size_t r = 0; r < rows; ++r) scratch.error[slot[r]] = scratch.errors[r];
  }

  void evaluate_targets(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    for (int i = 0; i < at.slots; ++i) {
      const Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
      put_state(e.bar < 0 ? -1 : e.bar + 1, e.next, i, scratch);
    }
    const DuelingRows act = scratch.target.at(0);
    evaluate(inputs.target, target_market_, target_half_, true, at.slots, scratch, act);
    for (int i = 0; i < at.slots; ++i) {
      const std::size_t row = static_cast<std::size_t>(at.row + i);
      const Experience& e = buffers.rows[row];
      const float best = e.bar < 0 ? 0.0f : net_.q(act, i, net_.greedy(act, i));
      if (inputs.outputs.target_q) buffers.target_q[row] = best;
      if (!inputs.outputs.td_error) continue;
      const float q_selected = scratch.q_selected[static_cast<std::size_t>(i)];
      buffers.q_selected[row] = q_selected;
      buffers.td_error[row] = abs_of(td_target(e.reward, setup_.gamma, best, is_terminal(e)) - q_selected);
    }
  }

  static CollectStats total(const std::vector<CollectStats>& groups) {
    CollectStats sum;
    for (const CollectStats& s : groups) {
      sum.mean_reward += s.mean_reward;
      sum.mean_return += s.mean_return;
      sum.steps += s.steps;
      sum.episodes += s.episodes;
      sum.ruins += s.ruins;
    }
    sum.mean_reward /= static_cast<double>(sum.steps);
    sum.mean_return /= static_cast<double>(sum.steps);
    return sum;
  }

  CollectorSetup setup_;
  Market market_;
  DuelingNet net_;
  bool tables_;  // whether the first layer's market part is computed once per bar
  MarketLayer online_market_, target_market_;
  std::optional<HalfLayers> online_half_, target_half_;  // where asked for
  CuriosityTable curiosity_;
  std::vector<std::int64_t> starts_;
  std::int64_t total_starts_;
  std::vector<Slot<T>> slots_;
  std::vector<std::unique_ptr<TileScratch<R>>> scratch_;  // [workers]
  std::vector<CollectStats> stats_;                       // [groups of kSumSlots slots]
  std::uint64_t steps_taken_ = 0;
};

}  // namespace

std::unique_ptr<Collector> make_collector(RuleSet rules, const CollectorSetup& setup) {
  if (rules == RuleSet::kClassic) return std::make_unique<RuleCollector<kClassicRules>>(setup);
  return std::make_unique<RuleCollector<kMarketRules>>(setup);
}

}  // namespace warptape::cpu
