#include "backend/cpu/curiosity_table.h"

#include <algorithm>
#include <atomic>

#include "core/check.h"

namespace warptape::cpu {

namespace {
constexpr float kUnknown = -1.0f;
}

CuriosityTable::CuriosityTable(const CuriosityShape& shape, const Market& market, std::int64_t bars)
    : net_(shape), market_(market), values_(static_cast<std::size_t>(bars) * kCategories, kUnknown) {}

void CuriosityTable::clear() {
  std::fill(values_.begin(), values_.end(), kUnknown);
}

void CuriosityTable::errors(const float* parameters, std::span<const Key> keys, Scratch& scratch, float* errors) {
  CHECK_LE(keys.size(), static_cast<std::size_t>(kRows));
  const CuriosityRows act = scratch.activations.at(0);
  int rows = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    errors[i] = std::atomic_ref(entry(keys[i])).load(std::memory_order_relaxed);
    if (errors[i] != kUnknown) continue;
    net_.fill_row(market_, keys[i].bar, keys[i].category, rows, act);
    scratch.missing[static_cast<std::size_t>(rows++)] = static_cast<int>(i);
  }
  if (rows == 0) return;
  net_.forward(parameters, rows, act, scratch.computed.data());
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const std::size_t i = static_cast<std::size_t>(scratch.missing[r]);
    errors[i] = scratch.computed[r];
    std::atomic_ref(entry(keys[i])).store(errors[i], std::memory_order_relaxed);
  }
}

}  // namespace warptape::cpu
