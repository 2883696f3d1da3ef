#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/offsets.h"

namespace plimsoll::plan {

/// A buffer on the compressed timeline: alive in sections [first, last).
struct Box {
  int64_t size = 0;
  int64_t alignment = 1;
  int32_t first = 0;
  int32_t last = 0;
  int32_t id = 0;       ///< index in the problem
  double duration = 0;  ///< upper - lower, which may exceed an int64

  bool overlaps(const Box& other) const { return first < other.last && other.first < last; }
  bool same_shape(const Box& other) const {
    return size == other.size && alignment == other.alignment && first == other.first && last == other.last;
  }
};

/// Buffers sorted by first section, on a timeline where only the locally largest sets of live buffers are kept
/// (sections): two buffers are alive together at some time exactly if they share a section.
struct Boxes {
  std::vector<Box> boxes;
  int32_t sections = 0;
  std::vector<int64_t> load;  ///< bytes alive in each section

  int64_t max_load() const;
  int count() const { return static_cast<int>(boxes.size()); }
};

/// Requires: non-empty lifetimes and positive sizes at `ids`. Cost: O(n log n).
Boxes make_boxes(std::span<const Interval> buffers, std::span<const int32_t> ids);

}  // namespace plimsoll::plan
