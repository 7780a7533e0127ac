// What the step sees of an action: three tables. Whatever lists of exposures, order types and urgencies a user
// configures become these (docs/domain.md, section 2).
#pragma once

#include "core/hd.h"

namespace warptape {

inline constexpr int kMaxActions = 256;

enum class Category : u8 { kShort = 0, kFlat = 1, kLong = 2 };
inline constexpr int kCategories = 3;

/// Tables of `count` actions; index = (exposure·|orders| + order)·|urgencies| + urgency.
struct ActionTables {
  double exposure[kMaxActions];   // of the position cap
  double cost_rate[kMaxActions];  // of the traded notional, urgency included
  u8 category[kMaxActions];       // a Category
  i32 count;
};

HD Category category_of(double exposure) {
  return exposure < 0 ? Category::kShort : exposure > 0 ? Category::kLong : Category::kFlat;
}

}  // namespace warptape
