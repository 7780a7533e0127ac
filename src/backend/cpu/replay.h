// The CPU's replay: a ring of compact experiences, drawn uniformly or by priority (docs/domain.md, section 6).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/cpu/sum_tree.h"
#include "replay/experience.h"
#include "replay/n_step.h"
#include "replay/ring.h"

namespace warptape::cpu {

/// How rows are drawn and what returns they begin.
struct ReplayRules {
  int n_step = 1;
  bool rounds_jump = false;  ///< classic: a new round moves each slot to another bar in the middle of its episode
  bool prioritised = false;
  float alpha = 0.6f;
  float epsilon = 1e-6f;
};

class Replay {
 public:
  Replay(std::int64_t slots, std::int64_t capacity, const ReplayRules& rules = {});

  std::int64_t size() const { return ring_.filled; }
  const Ring& ring() const { return ring_; }
  const ReplayRules& rules() const { return rules_; }
  const std::vector<Experience>& rows() const { return rows_; }
  const Experience& row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }

  /// Rows that may be drawn: those that have n rows from themselves on, or an end of their chain among them.
  std::int64_t drawable() const { return ring_.filled - edge_rows(ring_, rules_.n_step) + ended_count(); }

  /// Appends a round [steps, slots]. Its rows get the largest mass so far, once they may be drawn.
  void insert(const std::vector<Experience>& round);

  /// The row of each place in the batch of update `update`; drawable() must not be 0.
  void draw(std::uint64_t seed, std::uint64_t update, std::span<std::int64_t> rows) const;
  /// What the learner trains on; the row must be drawable.
  Transition transition(std::int64_t row, float gamma) const {
    return n_step_transition(ring_, rows_.data(), row, rules_.n_step, gamma);
  }

  // With prioritised replay only.

  float mass(std::int64_t row) const { return tree_->mass(row); }
  double total_mass() const { return tree_->total(); }
  /// Mass that new rows get; that of an error of 1 until a larger one was seen.
  float largest_mass() const { return largest_mass_; }
  /// Gives drawn rows their importance weights.
  void weigh(std::span<const std::int64_t> rows, double beta, std::span<Transition> batch) const;
  /// Steps inserted by this object: the stamp of a draw.
  std::int64_t steps_inserted() const { return steps_inserted_; }
  /// Gives rows drawn at stamp `drawn_at` their fresh TD errors; the last place of a row drawn twice counts. A row
  /// that was overwritten since, or whose error is not finite, keeps its mass.
  void set_errors(std::span<const std::int64_t> rows, std::span<const float> errors, std::int64_t drawn_at);

  /// The masses of the filled rows.
  std::vector<float> masses() const;

  /// Puts back what a checkpoint holds; masses [filled] and the largest so far count when prioritised.
  void restore(const Ring& ring, std::vector<Experience> rows, std::span<const float> masses = {},
               float largest_mass = 1);

 private:
  std::int64_t ended_count() const { return static_cast<std::int64_t>(ended_.size()); }
  void find_ended();
  void give_first_masses(std::int64_t steps);

  Ring ring_;
  ReplayRules rules_;
  std::vector<Experience> rows_;
  std::vector<std::int64_t> ended_;  // rows of the ring's edge that may be drawn, oldest first
  std::optional<SumTree> tree_;      // over the ring's rows; 0 where a row may not be drawn
  float largest_mass_ = 1;
  std::int64_t steps_inserted_ = 0;
};

}  // namespace warptape::cpu
