#pragma once

#include <algorithm>
#include <cstdint>

namespace plimsoll::ops {

/// Rows that a task takes at the least, so that its partial sums cost little beside its work.
inline constexpr int64_t kLeastRowsPerTask = 16;
/// More tasks would only make the sum of the partial sums longer.
inline constexpr int64_t kMostRowTasks = 32;

/// Into how many tasks a reduction over rows is cut: by shape alone, so that sums do not depend on threads.
inline int64_t row_tasks(int64_t rows) {
  return std::min(kMostRowTasks, (rows + kLeastRowsPerTask - 1) / kLeastRowsPerTask);
}

}  // namespace plimsoll::ops
