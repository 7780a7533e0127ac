#include "backend/cpu/sum_tree.h"

#include "core/check.h"

namespace warptape::cpu {

namespace {

std::int64_t nodes_for(std::int64_t children) {
  return (children + kFanout - 1) / kFanout;
}

}  // namespace

SumTree::SumTree(std::int64_t leaves) {
  CHECK_GE(leaves, 1);
  std::int64_t nodes = nodes_for(leaves);
  leaves_.resize(at(nodes));
  do {
    nodes = nodes_for(nodes);
    levels_.emplace_back(at(nodes));
  } while (nodes > 1);
}

std::int64_t SumTree::find(double target) const {
  std::int64_t node = 0;
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    node = node * kFanout + pick_child((*level)[at(node)].mass, target);
  }
  return node * kFanout + pick_child(leaves_[at(node)].mass, target);
}

void SumTree::set(std::int64_t leaf, float mass) {
  set_leaf(leaf, mass);
  std::int64_t node = leaf / kFanout;
  double sum = node_sum(leaves_[at(node)].mass);
  for (std::vector<Node>& level : levels_) {
    Node& parent = level[at(node / kFanout)];
    parent.mass[node % kFanout] = sum;
    sum = node_sum(parent.mass);
    node /= kFanout;
  }
  total_ = sum;
}

void SumTree::rebuild(std::int64_t first, std::int64_t count) {
  if (count <= 0) return;
  std::int64_t low = first / kFanout, high = (first + count - 1) / kFanout;
  for (std::int64_t node = low; node <= high; ++node) {
    levels_[0][at(node / kFanout)].mass[node % kFanout] = node_sum(leaves_[at(node)].mass);
  }
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    low /= kFanout;
    high /= kFanout;
    for (std::int64_t node = low; node <= high; ++node) {
      levels_[level][at(node / kFanout)].mass[node % kFanout] = node_sum(levels_[level - 1][at(node)].mass);
    }
  }
  total_ = node_sum(levels_.back()[0].mass);
}

}  // namespace warptape::cpu
