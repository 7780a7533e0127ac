// Where a replay ring keeps what: whole steps of all slots, one after another, so that a row's successor in its episode
// lies `slots` rows on.
#pragma once

#include "core/hd.h"
#include "core/philox.h"

namespace warptape {

struct Ring {
  i64 slots;     // N
  i64 capacity;  // rows, a multiple of slots
  i64 filled;    // rows that hold experiences
  i64 head;      // row where the next step goes
};

/// The largest ring of whole steps that `rows` can hold.
HD Ring make_ring(i64 slots, i64 rows) {
  return {slots, rows / slots * slots, 0, 0};
}

/// Row of (step, slot) of a round that is inserted at the ring's head.
HD i64 insert_row(const Ring& ring, i64 step, i64 slot) {
  return (ring.head + step * ring.slots) % ring.capacity + slot;
}

/// After `steps` steps of all slots were inserted.
HD void advance(Ring& ring, i64 steps) {
  ring.head = (ring.head + steps * ring.slots) % ring.capacity;
  ring.filled = min_of(ring.filled + steps * ring.slots, ring.capacity);
}

/// The row of the same slot one step on; of the newest step, the oldest.
HD i64 next_row(const Ring& ring, i64 row) {
  const i64 next = row + ring.slots;
  return next < ring.capacity ? next : next - ring.capacity;
}

/// Steps that were inserted after the row's own: 0 for the newest. The row must hold an experience.
HD i64 age_of(const Ring& ring, i64 row) {
  const i64 behind = ring.head - row / ring.slots * ring.slots;
  return (behind > 0 ? behind : behind + ring.capacity) / ring.slots - 1;
}

/// First row of the step of this age.
HD i64 row_of_age(const Ring& ring, i64 age) {
  const i64 row = ring.head - (age + 1) * ring.slots;
  return row >= 0 ? row : row + ring.capacity;
}

/// The row that place `index` of the batch of update `update` draws, uniformly over what is filled.
HD i64 uniform_row(const Ring& ring, u64 seed, u32 index, u64 update, Draw draw) {
  const Philox4 words = random_words(seed, index, update, draw);
  return static_cast<i64>(below(words.word[0], static_cast<u32>(ring.filled)));
}

}  // namespace warptape
