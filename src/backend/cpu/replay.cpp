#include "backend/cpu/replay.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace warptape::cpu {

Replay::Replay(std::int64_t slots, std::int64_t capacity, const ReplayRules& rules)
    : ring_(make_ring(slots, capacity)), rules_(rules), rows_(static_cast<std::size_t>(ring_.capacity)) {
  CHECK_GE(rules.n_step, 1);
  if (rules.prioritised) tree_.emplace(ring_.capacity);
}

void Replay::insert(const std::vector<Experience>& round) {
  const std::int64_t steps = static_cast<std::int64_t>(round.size()) / ring_.slots;
  CHECK_EQ(steps * ring_.slots, static_cast<std::int64_t>(round.size()));
  CHECK_LE(steps * ring_.slots, ring_.capacity);
  if (steps == 0) return;
  for (std::int64_t t = 0; t < steps; ++t) {
    std::copy_n(round.begin() + static_cast<std::ptrdiff_t>(t * ring_.slots), ring_.slots,
                rows_.begin() + static_cast<std::ptrdiff_t>(insert_row(ring_, t, 0)));
  }
  advance(ring_, steps);
  steps_inserted_ += steps;
  // One-step returns never look past a row, and need no cut.
  if (rules_.rounds_jump && rules_.n_step > 1) {
    const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(row_of_age(ring_, 0));
    std::for_each_n(last, ring_.slots, [](Experience& e) { e.action_flags |= kCutFlag; });
  }
  find_ended();
  if (tree_) give_first_masses(steps);
}

/// Which rows of the ring's edge may be drawn.
void Replay::find_ended() {
  ended_.clear();
  for (std::int64_t age = edge_rows(ring_, rules_.n_step) / ring_.slots - 1; age >= 0; --age) {
    const std::int64_t first = row_of_age(ring_, age);
    for (std::int64_t row = first; row < first + ring_.slots; ++row) {
      if (is_drawable(ring_, rows_.data(), row, rules_.n_step)) ended_.push_back(row);
    }
  }
}

/// Masses of `steps` new steps, and of the older rows whose chain they complete.
void Replay::give_first_masses(std::int64_t steps) {
  const std::int64_t n = rules_.n_step;
  const std::int64_t oldest = std::min<std::int64_t>(steps + n - 1, ring_.filled / ring_.slots) - 1;
  for (std::int64_t age = oldest; age >= 0; --age) {
    const std::int64_t first = row_of_age(ring_, age);
    for (std::int64_t row = first; row < first + ring_.slots; ++row) {
      // An older row whose chain had ended before has a mass of its own.
      if (age >= steps && tree_->mass(row) > 0) continue;
      const bool drawable = age >= n - 1 || is_drawable(ring_, rows_.data(), row, n);
      tree_->set_leaf(row, drawable ? largest_mass_ : 0.0f);
    }
  }
  const std::int64_t first = row_of_age(ring_, oldest), count = (oldest + 1) * ring_.slots;
  const std::int64_t to_the_end = std::min<std::int64_t>(count, ring_.capacity - first);
  tree_->rebuild(first, to_the_end);
  tree_->rebuild(0, count - to_the_end);
}

void Replay::draw(std::uint64_t seed, std::uint64_t update, std::span<std::int64_t> rows) const {
  const std::int64_t count = drawable();
  CHECK(count > 0);
  const u32 batch = static_cast<u32>(rows.size());
  if (tree_) {
    for (u32 place = 0; place < batch; ++place) {
      const Philox4 words = random_words(seed, place, update, Draw::kReplay);
      rows[place] = tree_->find(stratified_target(words, place, batch, tree_->total()));
    }
    return;
  }
  const std::int64_t settled = count - ended_count();
  for (u32 place = 0; place < batch; ++place) {
    const Philox4 words = random_words(seed, place, update, Draw::kReplay);
    const std::int64_t k = below(words.word[0], static_cast<u32>(count));
    rows[place] = k < settled ? settled_row(ring_, rules_.n_step, k) : ended_[static_cast<std::size_t>(k - settled)];
  }
}

void Replay::weigh(std::span<const std::int64_t> rows, double beta, std::span<Transition> batch) const {
  float smallest = tree_->mass(rows[0]);
  for (const std::int64_t row : rows) smallest = std::min(smallest, tree_->mass(row));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    batch[i].weight = importance_weight(tree_->mass(rows[i]), smallest, static_cast<float>(beta));
  }
}

void Replay::set_errors(std::span<const std::int64_t> rows, std::span<const float> errors, std::int64_t drawn_at) {
  const std::int64_t since = steps_inserted_ - drawn_at;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The newest `since` steps stand where older ones stood at the draw.
    if (!std::isfinite(errors[i]) || (since > 0 && age_of(ring_, rows[i]) < since)) continue;
    const float mass = priority_mass(errors[i], rules_.epsilon, rules_.alpha);
    tree_->set(rows[i], mass);
    largest_mass_ = std::max(largest_mass_, mass);
  }
}

std::vector<float> Replay::masses() const {
  std::vector<float> masses(static_cast<std::size_t>(ring_.filled));
  for (std::size_t i = 0; i < masses.size(); ++i) masses[i] = tree_->mass(static_cast<std::int64_t>(i));
  return masses;
}

void Replay::restore(const Ring& ring, std::vector<Experience> rows, std::span<const float> masses,
                     float largest_mass) {
  CHECK_EQ(ring.capacity, ring_.capacity);
  CHECK_EQ(ring.slots, ring_.slots);
  CHECK_EQ(static_cast<std::int64_t>(rows.size()), ring.filled);
  ring_ = ring;
  rows.resize(static_cast<std::size_t>(ring.capacity));
  rows_ = std::move(rows);
  find_ended();
  if (!tree_) return;
  CHECK_EQ(static_cast<std::int64_t>(masses.size()), ring.filled);
  for (std::int64_t row = 0; row < ring.capacity; ++row) {
    tree_->set_leaf(row, row < ring.filled ? masses[static_cast<std::size_t>(row)] : 0.0f);
  }
  tree_->rebuild(0, ring.capacity);
  largest_mass_ = largest_mass;
}

}  // namespace warptape::cpu
