// One experience, compact: states are rebuilt from the market matrix (docs/domain.md, section 6).
#pragma once

#include "core/hd.h"
#include "env/observe.h"

namespace warptape {

struct Experience {
  i32 bar;  // dataset row of the state; -1: a classic row of zeros, past the end of the data
  float now[kPortfolioNumbers];
  u32 action_flags;  // see below
  float reward;
  float next[kPortfolioNumbers];  // of the true next state, at row bar + 1
};
static_assert(sizeof(Experience) == 36);

inline constexpr u32 kActionMask = 0xFFFFu;
inline constexpr u32 kTerminalFlag = 1u << 16;
inline constexpr u32 kTruncatedFlag = 1u << 17;
// The slot's next row is not this row's successor though the episode goes on: the slot jumped. Set with n-step returns
// only, on the last step of a classic round; a return ends here and bootstraps.
inline constexpr u32 kCutFlag = 1u << 18;

HD u32 pack_action(int action, bool terminal, bool truncated) {
  return static_cast<u32>(action) | (terminal ? kTerminalFlag : 0u) | (truncated ? kTruncatedFlag : 0u);
}
HD int action_of(const Experience& e) {
  return static_cast<int>(e.action_flags & kActionMask);
}
HD bool is_terminal(const Experience& e) {
  return (e.action_flags & kTerminalFlag) != 0;
}
HD bool is_truncated(const Experience& e) {
  return (e.action_flags & kTruncatedFlag) != 0;
}

}  // namespace warptape
