#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

/// Receives what was executed when. Times are nanoseconds of the steady clock. Implementations must not allocate in
/// `span`.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Instruction `index` of segment `segment` ran in [start_ns, end_ns) on `lane`, in that iteration.
  virtual void span(int segment, int index, int64_t iteration, int lane, int64_t start_ns, int64_t end_ns) = 0;
};

}  // namespace plimsoll
