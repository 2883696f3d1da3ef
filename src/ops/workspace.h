#pragma once

#include <algorithm>
#include <cstdint>

namespace plimsoll::ops {

/// Tasks of one launch that may each hold scratch: kernels cut their work into no more, so that what they ask for has a
/// bound that is the same for any number of threads.
inline constexpr int64_t kMostTasks = 64;

/// Bytes of one f64 partial sum a task, of a sum over `numel` elements.
inline int64_t partial_sum_bytes(int64_t numel) {
  return std::min(numel, kMostTasks) * static_cast<int64_t>(sizeof(double));
}

}  // namespace plimsoll::ops
