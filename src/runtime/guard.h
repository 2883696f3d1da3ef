#pragma once

#include <string>

#include "runtime/executor.h"

namespace plimsoll::runtime {

struct GuardOptions {
  /// Also prove that no instruction changes a byte outside what it says it writes: a hash of the whole arena around
  /// every instruction, so for small programs only.
  bool checks_outside = false;
};

/// What a guarded step found.
struct GuardReport {
  Outcome outcome;
  /// One past the highest byte of the arena that was state or was written; a workspace counts whole once it was used.
  int64_t executed_peak_bytes = 0;
  /// Fences that stood beside workspaces, over all runs of all instructions; two for each where nothing lies against
  /// it.
  int64_t fences = 0;
  std::string fault;  ///< the first stray write or unwritten output; empty where there was none
};

/// Runs one step as Executor::run does, with every byte that holds nothing poisoned: a residence when its life begins
/// and when it ends, each output and workspace before its kernel. So a read of what is dead gives NaN, and what was
/// touched shows. Bytes beside a workspace that nobody owns are fenced while its kernel runs; to have some on both
/// sides of each, plan with plan::PlanOptions::fence_bytes.
///
/// A kernel whose output ends in poison is run again over another pattern, with what it adds to or updates put back.
/// A test mode. `arena` are the bytes of `space`. Memory: copies of what kernels with other outputs add to or update.
/// Cost: three times the memory traffic of the step, or, with checks_outside, instructions × arena bytes.
GuardReport run_guarded(Executor& executor, std::span<std::byte> arena, Space space, FeedSource feed,
                        const GuardOptions& options = {});

}  // namespace plimsoll::runtime
