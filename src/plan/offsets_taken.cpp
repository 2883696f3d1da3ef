#include "plan/offsets_taken.h"

#include <algorithm>
#include <bit>

namespace plimsoll::plan {

void Extents::add(Extent extent) {
  const auto first = std::lower_bound(extents_.begin(), extents_.end(), extent.begin,
                                      [](const Extent& other, int64_t begin) { return other.end < begin; });
  auto last = first;
  for (; last != extents_.end() && last->begin <= extent.end; ++last) {
    extent.begin = std::min(extent.begin, last->begin);
    extent.end = std::max(extent.end, last->end);
  }
  if (first == last) {
    extents_.insert(first, extent);
  } else {
    *first = extent;
    extents_.erase(first + 1, last);
  }
}

Extent ExtentMerge::lowest_after(int64_t address) {
  Extent lowest;
  for (std::span<const Extent>& ahead : ahead_) {
    while (!ahead.empty() && ahead.front().end <= address) ahead = ahead.subspan(1);
    if (!ahead.empty() && (lowest.end == 0 || ahead.front().begin < lowest.begin)) lowest = ahead.front();
  }
  return lowest;
}

TakenBytes::TakenBytes(int32_t sections)
    : width_(static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(std::max(sections, 1))))),
      nodes_(2 * static_cast<size_t>(width_)) {}

template <class Visit>
void TakenBytes::descend(int32_t first, int32_t last, Visit visit) const {
  const auto go = [&](const auto& self, size_t node, int32_t begin, int32_t width) -> void {
    if (first >= begin + width || begin >= last) return;
    const bool is_covered = first <= begin && begin + width <= last;
    visit(node, is_covered);
    if (is_covered) return;
    self(self, 2 * node, begin, width / 2);
    self(self, 2 * node + 1, begin + width / 2, width / 2);
  };
  go(go, 1, 0, width_);
}

void TakenBytes::take(int32_t first, int32_t last, Extent extent) {
  descend(first, last, [&](size_t node, bool is_covered) {
    nodes_[node].any.add(extent);
    if (is_covered) nodes_[node].whole.add(extent);
  });
}

void TakenBytes::find(int32_t first, int32_t last, ExtentMerge& out) const {
  out.clear();
  // What covers a node is taken in every section below it; of a node that is covered, all that is below it counts.
  descend(first, last, [&](size_t node, bool is_covered) {
    const Extents& set = is_covered ? nodes_[node].any : nodes_[node].whole;
    if (!set.all().empty()) out.add(set);
  });
}

}  // namespace plimsoll::plan
