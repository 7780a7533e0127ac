#include "backend/cpu/collector.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "core/check.h"
#include "env/step.h"
#include "learn/td.h"
#include "market/dataset.h"
#include "warptape/error.h"

namespace warptape::cpu {

namespace {

// Slots of a tile: enough rows to fill the products' registers, few enough that a round of 128 still has two tiles.
// A constant, since what a row's product gives may depend on its place in the tile.
constexpr int kTile = 64;

/// One worker's scratch.
template <Rules R>
struct TileScratch {
  using T = Money<R>;
  TileScratch(const CollectorSetup& s, int state_size)
      : state(static_cast<std::size_t>(kTile * state_size)),
        online(s.dueling, kTile),
        target(s.dueling, kTile),
        curiosity(s.curiosity, kTile),
        error(kTile),
        bonus_row(kTile),
        result(kTile),
        q_selected(kTile) {}
  std::vector<float> state;  // [kTile, S]
  DuelingActivations online, target;
  CuriosityActivations curiosity;
  std::vector<float> error;
  std::vector<int> bonus_row;  // slot in tile of each row of the curiosity batch
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
        online_(setup.dueling),
        curiosity_(setup.curiosity),
        starts_(usable_starts(*setup.dataset, setup.params.episode_length)),
        total_starts_(std::accumulate(starts_.begin(), starts_.end(), std::int64_t{0})),
        slots_(static_cast<std::size_t>(setup.episodes)) {
    static_assert(std::is_trivially_copyable_v<Slot<T>>);
    CHECK(total_starts_ > 0 && total_starts_ < std::int64_t{1} << 32);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      slots_[s].lcg = random_words(setup_.seed, static_cast<u32>(s), 0, Draw::kClassic).word[0];
      restart(static_cast<u32>(s));
    }
  }

  CollectStats play_round(ThreadPool& pool, const RoundInputs& inputs, RoundBuffers& buffers) override {
    prepare(inputs, buffers);
    while (static_cast<int>(scratch_.size()) < pool.size()) scratch_.emplace_back(setup_, market_.state_size());
    const int tiles = static_cast<int>((setup_.episodes + kTile - 1) / kTile);
    std::vector<CollectStats> stats(static_cast<std::size_t>(tiles));
    pool.run(tiles, [&](int tile, int worker) {
      play_tile(tile, inputs, buffers, scratch_[static_cast<std::size_t>(worker)],
                stats[static_cast<std::size_t>(tile)]);
    });
    steps_taken_ += static_cast<std::uint64_t>(setup_.steps);
    return total(stats);
  }

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

  void play_tile(int tile, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch,
                 CollectStats& stats) {
    TileStep at{};
    at.first_slot = static_cast<std::int64_t>(tile) * kTile;
    at.slots = static_cast<int>(std::min<std::int64_t>(kTile, setup_.episodes - at.first_slot));
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
      finish_rewards(at, inputs, buffers, scratch, stats);
      if (inputs.outputs.target_q || inputs.outputs.td_error) evaluate_targets(at, inputs, buffers, scratch);
    }
  }

  /// Observes, chooses and steps every slot of the tile; a slot whose episode ended restarts after its true next state
  /// was written down.
  void act(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    const int state_size = market_.state_size();
    for (int i = 0; i < at.slots; ++i) {
      Slot<T>& slot = slots_[static_cast<std::size_t>(at.first_slot + i)];
      Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
      e = {};
      e.bar = slot.bar < slot.last_bar ? slot.bar : -1;
      if (e.bar >= 0) set_numbers(e.now, observe<R>(setup_.params, slot.portfolio, static_cast<T>(close(e.bar))));
      market_.write_now(e, scratch.state.data() + static_cast<std::ptrdiff_t>(i) * state_size);
    }
    online_.forward(inputs.online, at.slots, scratch.state.data(), scratch.online);
    for (int i = 0; i < at.slots; ++i) step_slot(at, i, inputs, buffers, scratch);
  }

  void step_slot(const TileStep& at, int i, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    const u32 index = static_cast<u32>(at.first_slot + i);
    Slot<T>& slot = slots_[index];
    Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
    StepResult<T>& result = scratch.result[static_cast<std::size_t>(i)];
    const int actions = setup_.dueling.actions;
    const float* q = scratch.online.q.data() + static_cast<std::ptrdiff_t>(i) * actions;
    if (e.bar < 0) {
      e.action_flags = pack_action(0, true, false);
      result = {};
      result.equity = 1;  // counts as no return
      result.next_equity = 1;
      scratch.q_selected[static_cast<std::size_t>(i)] = 0;
      return;
    }
    const int action =
        explore<R>(slot, setup_.seed, index, at.global_step, inputs.epsilon, actions, argmax(q, actions));
    const std::size_t next = static_cast<std::size_t>(e.bar) + 1;
    const Dataset& d = *setup_.dataset;
    result =
        step<R>(setup_.params, slot, action, {close(e.bar), d.open[next], d.high[next], d.low[next], d.close[next]});
    set_numbers(e.next, observe<R>(setup_.params, slot.portfolio, result.next_price));
    e.action_flags = pack_action(action, result.terminal, result.truncated);
    scratch.q_selected[static_cast<std::size_t>(i)] = q[action];
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
  void finish_rewards(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch,
                      CollectStats& stats) {
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
      stats.mean_reward += e.reward;
      if (result.equity > 0) stats.mean_return += static_cast<double>(result.next_equity / result.equity) - 1.0;
      stats.episodes += result.terminal || result.truncated ? 1 : 0;
      stats.ruins += result.ruin ? 1 : 0;
    }
    stats.steps += at.slots;
  }

  void predict(const TileStep& at, const RoundInputs& inputs, const RoundBuffers& buffers, TileScratch<R>& scratch) {
    int rows = 0;
    for (int i = 0; i < at.slots; ++i) {
      const Experience& e = buffers.rows[static_cast<std::size_t>(at.row + i)];
      if (e.bar < 0) continue;
      const auto category = static_cast<Category>(setup_.params.actions.category[action_of(e)]);
      curiosity_.fill_row(market_, e.bar, category, rows, scratch.curiosity);
      scratch.bonus_row[static_cast<std::size_t>(rows++)] = i;
    }
    if (rows == 0) return;
    std::array<float, kTile> errors{};
    curiosity_.forward(inputs.curiosity, rows, scratch.curiosity, errors.data());
    for (int r = 0; r < rows; ++r) {
      scratch.error[static_cast<std::size_t>(scratch.bonus_row[static_cast<std::size_t>(r)])] =
          errors[static_cast<std::size_t>(r)];
    }
  }

  void evaluate_targets(const TileStep& at, const RoundInputs& inputs, RoundBuffers& buffers, TileScratch<R>& scratch) {
    const int state_size = market_.state_size();
    const int actions = setup_.dueling.actions;
    for (int i = 0; i < at.slots; ++i) {
      market_.write_next(buffers.rows[static_cast<std::size_t>(at.row + i)],
                         scratch.state.data() + static_cast<std::ptrdiff_t>(i) * state_size);
    }
    online_.forward(inputs.target, at.slots, scratch.state.data(), scratch.target);
    for (int i = 0; i < at.slots; ++i) {
      const std::size_t row = static_cast<std::size_t>(at.row + i);
      const Experience& e = buffers.rows[row];
      const float* q = scratch.target.q.data() + static_cast<std::ptrdiff_t>(i) * actions;
      const float best = e.bar < 0 ? 0.0f : q[argmax(q, actions)];
      if (inputs.outputs.target_q) buffers.target_q[row] = best;
      if (!inputs.outputs.td_error) continue;
      const float q_selected = scratch.q_selected[static_cast<std::size_t>(i)];
      buffers.q_selected[row] = q_selected;
      buffers.td_error[row] = abs_of(td_target(e.reward, setup_.gamma, best, is_terminal(e)) - q_selected);
    }
  }

  static CollectStats total(const std::vector<CollectStats>& tiles) {
    CollectStats sum;
    for (const CollectStats& s : tiles) {
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
  DuelingNet online_;
  CuriosityNet curiosity_;
  std::vector<std::int64_t> starts_;
  std::int64_t total_starts_;
  std::vector<Slot<T>> slots_;
  std::vector<TileScratch<R>> scratch_;
  std::uint64_t steps_taken_ = 0;
};

}  // namespace

std::unique_ptr<Collector> make_collector(RuleSet rules, const CollectorSetup& setup) {
  if (rules == RuleSet::kClassic) return std::make_unique<RuleCollector<kClassicRules>>(setup);
  return std::make_unique<RuleCollector<kMarketRules>>(setup);
}

}  // namespace warptape::cpu
