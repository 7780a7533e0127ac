#include "backend/cpu/thread_pool.h"

#include <algorithm>

#include "backend/cpu/spin.h"

namespace warptape::cpu {

namespace {
// How long a thread looks before it sleeps: the loops of a learner's update follow each other faster than a sleeping
// thread wakes.
constexpr std::chrono::microseconds kSpin{200};
}  // namespace

ThreadPool::ThreadPool(int threads) {
  const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int wanted = threads > 0 ? threads : processors;
  spin_ = wanted <= processors ? kSpin : std::chrono::microseconds{0};
  for (int worker = 1; worker < wanted; ++worker) {
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    generation_.fetch_add(1);
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_task(int count, Task task) {
  if (count <= 0) return;
  {
    const std::lock_guard lock(mutex_);
    task_ = task;
    count_ = count;
    error_ = nullptr;
    next_.store(0);
    if (count > 1) generation_.fetch_add(1);
  }
  if (count > 1) start_.notify_all();
  drain(0);
  // All indices are taken; those that took some are inside until they are done.
  spin_until(spin_, [this] { return inside_.load() == 0; });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return inside_.load() == 0; });
  task_ = {};
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::work(int worker) {
  std::uint64_t seen = 0;
  while (true) {
    spin_until(spin_, [&] { return generation_.load() != seen; });
    std::unique_lock lock(mutex_);
    start_.wait(lock, [&] { return generation_.load() != seen; });
    seen = generation_.load();
    if (stop_) return;
    if (task_.call == nullptr) continue;  // came too late: the others have done it all
    inside_.fetch_add(1);
    lock.unlock();
    drain(worker);
    lock.lock();
    if (inside_.fetch_sub(1) == 1) done_.notify_one();
  }
}

void ThreadPool::drain(int worker) {
  while (true) {
    const int index = next_.fetch_add(1);
    if (index >= count_) return;
    try {
      task_.call(task_.object, index, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
}

}  // namespace warptape::cpu
