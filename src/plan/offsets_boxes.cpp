#include "plan/offsets_boxes.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace plimsoll::plan {
namespace {

// A start time opens a section if some buffer ends before or at the next start: otherwise the next set contains this
// one.
std::vector<int64_t> section_starts(std::span<const Interval> buffers, std::span<const int32_t> ids) {
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  for (int32_t id : ids) {
    starts.push_back(buffers[id].lower);
    ends.push_back(buffers[id].upper);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::sort(ends.begin(), ends.end());
  std::vector<int64_t> kept;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto end = std::upper_bound(ends.begin(), ends.end(), starts[i]);
    const bool is_last = i + 1 == starts.size();
    if (end != ends.end() && (is_last || *end <= starts[i + 1])) kept.push_back(starts[i]);
  }
  return kept;
}

}  // namespace

int64_t Boxes::max_load() const { return load.empty() ? 0 : *std::max_element(load.begin(), load.end()); }

Boxes make_boxes(std::span<const Interval> buffers, std::span<const int32_t> ids) {
  const std::vector<int64_t> starts = section_starts(buffers, ids);
  const auto section_of = [&](int64_t time) {
    return static_cast<int32_t>(std::lower_bound(starts.begin(), starts.end(), time) - starts.begin());
  };
  Boxes result;
  result.sections = static_cast<int32_t>(starts.size());
  result.load.assign(starts.size() + 1, 0);
  for (int32_t id : ids) {
    const Interval& buffer = buffers[id];
    result.boxes.push_back({buffer.size, buffer.alignment, section_of(buffer.lower), section_of(buffer.upper), id,
                            static_cast<double>(buffer.upper) - static_cast<double>(buffer.lower)});
  }
  std::sort(result.boxes.begin(), result.boxes.end(), [](const Box& a, const Box& b) {
    return std::tie(a.first, b.last, b.size, a.alignment, a.id) < std::tie(b.first, a.last, a.size, b.alignment, b.id);
  });
  for (const Box& box : result.boxes) {
    result.load[box.first] += box.size;
    result.load[box.last] -= box.size;
  }
  std::partial_sum(result.load.begin(), result.load.end(), result.load.begin());
  result.load.pop_back();
  return result;
}

}  // namespace plimsoll::plan
