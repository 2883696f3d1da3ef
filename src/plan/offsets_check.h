#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/offsets.h"

namespace plimsoll::plan {

/// What is wrong with a packing; all zero when nothing is.
struct OffsetCheck {
  int64_t overlaps = 0;   ///< pairs alive at the same time that share a byte
  int64_t misplaced = 0;  ///< offsets that are missing, negative, off their alignment, or end above `height`
  int64_t height = 0;     ///< bytes: the greatest end found
  bool ok() const { return overlaps == 0 && misplaced == 0; }
};

/// Compares every pair. Shares no code with the planner. Cost: O(n^2).
OffsetCheck check_offsets(const OffsetProblem& problem, std::span<const int64_t> offsets, int64_t height);

/// The greatest sum of sizes alive at one time, counted at every lifetime's start. Cost: O(n^2).
int64_t check_lower_bound(const OffsetProblem& problem);

}  // namespace plimsoll::plan
