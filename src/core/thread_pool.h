#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/function_ref.h"

namespace plimsoll {

/// The one pool of a process: runs the tasks that an op's shape was cut into.
///
/// Order: tasks run in any order on any thread, so what a task computes may depend on its index only, never on the
/// worker; then results are the same for any number of threads. Memory: `run` allocates nothing.
class ThreadPool {
 public:
  /// `threads` counts the caller, who works too. Requires: threads >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(0) … task(count - 1), each once, and returns when all are done. No task may call it (checked).
  void run(int64_t count, FunctionRef<void(int64_t task, int worker)> task);

 private:
  void work(int worker);
  void take_tasks(int worker);

  const FunctionRef<void(int64_t, int)>* task_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> next_{0};
  std::atomic<uint32_t> generation_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace plimsoll
