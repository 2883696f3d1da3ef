#pragma once

#include <array>
#include <vector>

#include "program/program.h"

namespace plimsoll::report {

using CategoryBytes = std::array<int64_t, kCategoryCount>;

/// The bytes that a program's residences hold, by space and category, before each instruction.
///
/// Cost: one pass over residences and one over instructions.
class MemoryTimeline {
 public:
  explicit MemoryTimeline(const program::Program& program);

  /// Bytes alive in `space` while instruction `index` of `segment` runs, all slots counted. Requires: it exists.
  const CategoryBytes& at(Space space, int segment, int index) const {
    return alive_[static_cast<size_t>(space)][position({segment, index})];
  }
  /// The same by place in the list of all segments' instructions.
  const CategoryBytes& at_position(Space space, size_t position) const {
    return alive_[static_cast<size_t>(space)][position];
  }
  /// Instructions of all segments.
  size_t size() const { return starts_.back(); }
  /// Whether any residence lies in this space.
  bool uses(Space space) const { return uses_[static_cast<size_t>(space)]; }

 private:
  size_t position(const program::Point& point) const {
    return starts_[static_cast<size_t>(point.segment)] + static_cast<size_t>(point.index);
  }

  std::vector<size_t> starts_;  ///< position of each segment's first instruction, then the number of all
  std::array<std::vector<CategoryBytes>, kSpaceCount> alive_;
  std::array<bool, kSpaceCount> uses_{};
};

}  // namespace plimsoll::report
