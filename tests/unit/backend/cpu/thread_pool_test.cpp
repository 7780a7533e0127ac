#include "backend/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace warptape::cpu {

namespace {

TEST(CpuThreadPool, TakesEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int count : {0, 1, 2, 5, 100}) {
      std::vector<std::atomic<int>> taken(static_cast<std::size_t>(count));
      std::atomic<bool> known_worker = true;
      pool.run(count, [&](int index, int worker) {
        ++taken[static_cast<std::size_t>(index)];
        if (worker < 0 || worker >= threads) known_worker = false;
      });
      for (const auto& times : taken) EXPECT_EQ(times, 1);
      EXPECT_TRUE(known_worker);
    }
  }
}

TEST(CpuThreadPool, OneWorkerIsInOneTaskAtATime) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> inside(3);
  std::atomic<bool> shared = false;
  pool.run(300, [&](int, int worker) {
    if (++inside[static_cast<std::size_t>(worker)] != 1) shared = true;
    std::this_thread::yield();
    --inside[static_cast<std::size_t>(worker)];
  });
  EXPECT_FALSE(shared);
}

TEST(CpuThreadPool, RunsManyShortLoopsOneAfterAnother) {
  ThreadPool pool(3);
  std::atomic<long> sum = 0;
  for (int round = 0; round < 2000; ++round) pool.run(3, [&](int index, int) { sum += index; });
  EXPECT_EQ(sum, 6000);
}

TEST(CpuThreadPool, ThrowsWhatATaskThrewAndGoesOn) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> done = 0;
    const auto task = [&](int index, int) {
      if (index == 2) throw std::runtime_error("two");
      ++done;
    };
    EXPECT_THROW(pool.run(5, task), std::runtime_error);
    EXPECT_EQ(done, 4);  // the others were taken all the same
    done = 0;
    pool.run(2, task);
    EXPECT_EQ(done, 2);
  }
}

TEST(CpuThreadPool, ZeroThreadsIsOneForEachProcessor) {
  const unsigned processors = std::thread::hardware_concurrency();
  EXPECT_EQ(ThreadPool(0).size(), processors == 0 ? 1 : static_cast<int>(processors));
}

}  // namespace

}  // namespace warptape::cpu
