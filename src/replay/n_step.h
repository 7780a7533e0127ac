// n-step returns out of a ring: which rows a return is made of, when a row may be drawn, what the learner trains on
// (Sutton and Barto, "Reinforcement learning", 2nd edition, section 7.1; docs/domain.md, section 6).
#pragma once

#include "core/hd.h"
#include "replay/experience.h"
#include "replay/ring.h"

namespace warptape {

/// A row's state and action, the return of up to n rows from it on, and the state from which the target bootstraps.
struct Transition {
  i32 bar;  // of the first row; -1: a classic row of zeros
  float now[kPortfolioNumbers];
  i32 action;
  float ret;       // Σ γ^k·reward of the rows used
  float discount;  // γ^m, m rows used
  i32 next_bar;    // of the true next state of the last row used; -1: zeros
  float next[kPortfolioNumbers];
  u32 terminal;  // 1: no bootstrap
  float weight;  // of the row's loss
};
static_assert(sizeof(Transition) == 52);

/// Whether no return goes on past this row: its episode ended, or the slot's next row is not its successor.
HD bool ends_chain(const Experience& e) {
  return (e.action_flags & (kTerminalFlag | kTruncatedFlag | kCutFlag)) != 0;
}

/// What a transition takes from its first row; weight 1.
HD Transition begin_transition(const Experience& first) {
  Transition t{};
  t.bar = first.bar;
  t.action = action_of(first);
  for (int i = 0; i < kPortfolioNumbers; ++i) t.now[i] = first.now[i];
  t.weight = 1.0f;
  return t;
}

/// The transition of `row`, of at most n rows of `rows` [capacity]. The row must be drawable. Sums in float32, first
/// reward first.
HD Transition n_step_transition(const Ring& ring, const Experience* rows, i64 row, int n, float gamma) {
  const Experience* e = rows + row;
  Transition t = begin_transition(*e);
  t.ret = e->reward;
  t.discount = gamma;
  for (int k = 1; k < n && !ends_chain(*e); ++k) {
    row = next_row(ring, row);
    e = rows + row;
    t.ret += t.discount * e->reward;
    t.discount *= gamma;
  }
  t.next_bar = e->bar < 0 ? -1 : e->bar + 1;
  for (int i = 0; i < kPortfolioNumbers; ++i) t.next[i] = e->next[i];
  t.terminal = is_terminal(*e) ? 1 : 0;
  return t;
}

/// Whether the n rows from `row` on are there, or its chain ends among those that are. Rows of a ring are overwritten
/// oldest first, so a row that is there has all its successors up to the newest.
HD bool is_drawable(const Ring& ring, const Experience* rows, i64 row, i64 n) {
  const i64 there = age_of(ring, row) + 1;
  if (there >= n) return true;
  for (i64 k = 0; k < there; ++k) {
    if (ends_chain(rows[row])) return true;
    row = next_row(ring, row);
  }
  return false;
}

/// Rows of the newest n − 1 steps, the ring's edge: drawable only where their chain has ended.
HD i64 edge_rows(const Ring& ring, i64 n) {
  return min_of((n - 1) * ring.slots, ring.filled);
}

/// The k-th row, counted in the order of rows, that does not lie in the ring's edge; k < filled − edge_rows.
HD i64 settled_row(const Ring& ring, i64 n, i64 k) {
  const i64 edge = edge_rows(ring, n);
  const i64 first = ring.head - edge;  // the edge is [first, head), and wraps where first is negative
  if (first < 0) return k + ring.head;
  return k < first ? k : k + edge;
}

}  // namespace warptape
