#pragma once

#include <algorithm>
#include <cstdint>

#include "core/thread_pool.h"

namespace plimsoll::backends::cpu {

/// A half-open range of units of work.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

/// The cut of `extent` units into tasks: a plain value that depends on the shape alone, never on the threads.
///
/// All tasks but the last are equal. Example: extent 10, at least 4 units a task: [0,4) [4,8) [8,10).
class Cut {
 public:
  /// Tasks of `per_task` units. Requires: per_task >= 1.
  Cut(int64_t extent, int64_t per_task) : extent_(extent), per_task_(per_task) {}

  int64_t tasks() const { return (extent_ + per_task_ - 1) / per_task_; }
  int64_t per_task() const { return per_task_; }
  Range operator[](int64_t task) const { return {task * per_task_, std::min(extent_, (task + 1) * per_task_)}; }

 private:
  int64_t extent_;
  int64_t per_task_;
};

/// The work below which a task is not worth handing over: as many f32 elements as a core moves in about 5 us.
constexpr int64_t kLeastTaskCost = 16 * 1024;
/// No more tasks than this for one launch: partial results for every task stay small.
constexpr int64_t kMostTasks = 64;

/// Elementwise kernels' cost per element, about, and their cut in whole cache lines of f32.
constexpr int64_t kElementwiseCost = 2;
constexpr int64_t kLineElements = 16;

/// The shared rule: `cost_per_unit` is about how many f32 elements a unit reads, writes, or computes with (a few
/// instructions each). Borders fall on multiples of `multiple` units.
inline Cut cut_by_cost(int64_t extent, int64_t cost_per_unit, int64_t multiple = 1) {
  const int64_t least = (kLeastTaskCost + cost_per_unit - 1) / std::max<int64_t>(cost_per_unit, 1);
  const int64_t even = (extent + kMostTasks - 1) / kMostTasks;
  const int64_t per_task = std::max<int64_t>({least, even, 1});
  return {extent, (per_task + multiple - 1) / multiple * multiple};
}

/// Calls body(range, task) for every task of the cut on the pool; a single task runs on the caller.
template <class Body>
void run(ThreadPool& pool, const Cut& cut, const Body& body) {
  pool.run(cut.tasks(), [&](int64_t task, int) { body(cut[task], task); });
}

}  // namespace plimsoll::backends::cpu
