// Worker threads for loops over tiles. What a tile computes may not depend on which worker takes it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warptape::cpu {

class ThreadPool {
 public:
  /// `threads` workers, the calling thread included; 0: one per processor.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(index, worker) for every index in [0, count), worker in [0, size()). Returns when all are done; the
  /// first exception of a task is thrown here.
  void run(int count, const std::function<void(int index, int worker)>& task);

 private:
  void work(int worker);
  void drain(int worker);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int, int)>* task_ = nullptr;
  std::exception_ptr error_;
  int count_ = 0;
  int next_ = 0;
  int unfinished_ = 0;
  int inside_ = 0;  // workers that may still touch task_
  std::uint64_t generation_ = 0;
  bool stop_ = false;
};

}  // namespace warptape::cpu
