#pragma once

#include <vector>

#include "plan/problem.h"

namespace plimsoll::plan {

/// A half-open range of positions, where all instructions of all segments are numbered through in order.
struct Lifetime {
  int64_t first = 0;
  int64_t last = 0;
  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

/// When each buffer must be in memory: from its first use to after its last.
///
/// In a segment that runs more than once, a buffer lives through all of it if its content crosses iterations or comes
/// from or goes to another segment, or if it has several slots. State lives always. A buffer that nobody uses has an
/// empty lifetime. Cost: O(uses).
std::vector<Lifetime> find_lifetimes(const Problem& problem);

/// The point of a position; the end of all is {segments, 0}.
program::Point to_point(const Problem& problem, int64_t position);

}  // namespace plimsoll::plan
