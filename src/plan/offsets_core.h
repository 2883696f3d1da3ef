#pragma once

#include <cstdint>

#include "plan/offsets_greedy.h"

namespace plimsoll::plan {

struct CoreResult {
  Packing packing;
  int64_t nodes = 0;
};

/// Packs a large problem, for which the tree search as a whole is slow: the boxes alive in its fullest sections (the
/// core) by tree search, then all others greedily around them. The height is decided where the load is near its
/// greatest, and few boxes are alive there. Tries several core sizes and keeps the lowest packing; stops at `target`.
/// Cost: O(n^2) comparisons a core size, and the core's tree search.
CoreResult pack_core_first(const Boxes& boxes, int64_t target, const OffsetOptions& options, double deadline);

}  // namespace plimsoll::plan
