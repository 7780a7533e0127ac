#include "backend/cpu/thread_pool.h"

#include <algorithm>

namespace warptape::cpu {

ThreadPool::ThreadPool(int threads) {
  const int wanted = threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int worker = 1; worker < wanted; ++worker) {
    workers_.emplace_back([this, worker] { work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int count, const std::function<void(int, int)>& task) {
  if (count <= 0) return;
  std::unique_lock lock(mutex_);
  task_ = &task;
  count_ = count;
  next_ = 0;
  unfinished_ = count;
  error_ = nullptr;
  ++generation_;
  lock.unlock();
  if (count > 1) start_.notify_all();
  drain(0);
  lock.lock();
  done_.wait(lock, [this] { return unfinished_ == 0 && inside_ == 0; });
  task_ = nullptr;
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::work(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return stop_ || (generation_ != seen && task_ != nullptr); });
    if (stop_) return;
    seen = generation_;
    ++inside_;
    lock.unlock();
    drain(worker);
    lock.lock();
    --inside_;
    if (unfinished_ == 0 && inside_ == 0) done_.notify_all();
  }
}

void ThreadPool::drain(int worker) {
  while (true) {
    int index = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == count_) return;
      index = next_++;
    }
    std::exception_ptr error;
    try {
      (*task_)(index, worker);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (error && !error_) error_ = error;
    if (--unfinished_ == 0) done_.notify_all();
  }
}

}  // namespace warptape::cpu
