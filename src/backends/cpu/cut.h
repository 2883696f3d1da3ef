#pragma once

#include <algorithm>
#include <cstdint>

#include "core/thread_pool.h"
#include "ops/workspace.h"

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
using ops::kMostTasks;

/// Elementwise kernels' cost per element, about, and their cut in whole cache lines of f32.
constexpr int64_t kElementwiseCost = 2;
constexpr int64_t kLineElements = 16;

/// Elements of one task of an optimizer; every array then moves 256 KiB.
constexpr int64_t kUpdateElements = 64 * 1024;

/// `numel` rounded up to whole cache lines.
constexpr int64_t whole_lines(int64_t numel) { return (numel + kLineElements - 1) / kLineElements * kLineElements; }

/// The shared rule: `cost_per_unit` is about how many f32 elements a unit reads, writes, or computes with (a few
/// instructions each). Borders fall on multiples of `multiple` units.
inline Cut cut_by_cost(int64_t extent, int64_t cost_per_unit, int64_t multiple = 1) {
  const int64_t least = (kLeastTaskCost + cost_per_unit - 1) / std::max<int64_t>(cost_per_unit, 1);
  const int64_t even = (extent + kMostTasks - 1) / kMostTasks;
  const int64_t per_task = std::max<int64_t>({least, even, 1});
  return {extent, (per_task + multiple - 1) / multiple * multiple};
}

/// Tasks of about `extent` / kMostTasks units each, at least one: for units that are worth a task whatever they cost.
inline Cut cut_evenly(int64_t extent) { return {extent, std::max<int64_t>(1, (extent + kMostTasks - 1) / kMostTasks)}; }

/// Calls body(range, task) for every task of the cut on the pool; a single task runs on the caller.
template <class Body>
void run(ThreadPool& pool, const Cut& cut, const Body& body) {
  pool.run(cut.tasks(), [&](int64_t task, int) { body(cut[task], task); });
}

/// What `run_in_rooms` needs: a room of `numel` f32 for each of the threads, or for each task where there are fewer.
inline int64_t rooms_bytes(const Cut& cut, int64_t numel, int threads) {
  return std::min<int64_t>(threads, cut.tasks()) * numel * static_cast<int64_t>(sizeof(float));
}

/// Calls body(range, room) for every task of the cut on the pool; nobody else uses the room at that time.
template <class Body>
void run_in_rooms(ThreadPool& pool, const Cut& cut, int64_t numel, void* workspace, const Body& body) {
  // With no more tasks than threads each task has its room, since any thread may take it.
  const bool is_by_task = cut.tasks() <= pool.threads();
  pool.run(cut.tasks(), [&](int64_t task, int worker) {
    body(cut[task], static_cast<float*>(workspace) + (is_by_task ? task : worker) * numel);
  });
}

/// Takes arrays out of a room one after the other, each on cache lines of its own. Without a room it only counts.
class RoomCutter {
 public:
  explicit RoomCutter(float* room) : room_(room) {}

  float* take(int64_t numel) {
    float* out = room_ == nullptr ? nullptr : room_ + taken_;
    taken_ += whole_lines(numel);
    return out;
  }
  int64_t taken() const { return taken_; }

 private:
  float* room_;
  int64_t taken_ = 0;
};

}  // namespace plimsoll::backends::cpu
