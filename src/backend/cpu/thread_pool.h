// Worker threads for loops over tiles. What a tile computes may not depend on which worker takes it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
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
  /// first exception of a task is thrown here. Allocates nothing.
  template <typename Task>
  void run(int count, Task&& task) {
    using T = std::remove_reference_t<Task>;
    run_task(count, {const_cast<void*>(static_cast<const void*>(std::addressof(task))),
                     [](void* t, int index, int worker) { (*static_cast<T*>(t))(index, worker); }});
  }

 private:
  /// A borrowed callable.
  struct Task {
    void* object = nullptr;
    void (*call)(void* object, int index, int worker) = nullptr;
  };

  void run_task(int count, Task task);
  void work(int worker);
  void drain(int worker);

  std::vector<std::thread> workers_;
  std::chrono::microseconds spin_{0};
  std::mutex mutex_;
  std::condition_variable start_, done_;
  // Written under the mutex, while no worker is inside.
  Task task_;
  int count_ = 0;
  std::exception_ptr error_;
  bool stop_ = false;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> next_{0};
  std::atomic<int> inside_{0};  // workers that may still touch task_
};

}  // namespace warptape::cpu
