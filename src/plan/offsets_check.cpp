#include "plan/offsets_check.h"

#include <algorithm>

namespace plimsoll::plan {
namespace {

bool share_a_byte(const Interval& a, int64_t a_offset, const Interval& b, int64_t b_offset) {
  if (a.size == 0 || b.size == 0) return false;
  const bool in_time = a.lower < b.upper && b.lower < a.upper;
  const bool in_space = a_offset < b_offset + b.size && b_offset < a_offset + a.size;
  return in_time && in_space;
}

}  // namespace

OffsetCheck check_offsets(const OffsetProblem& problem, std::span<const int64_t> offsets, int64_t height) {
  OffsetCheck check;
  const auto& buffers = problem.buffers;
  if (offsets.size() != buffers.size()) {
    check.misplaced = static_cast<int64_t>(buffers.size());
    return check;
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t end = offsets[i] + buffers[i].size;
    check.misplaced += offsets[i] < 0 || offsets[i] % buffers[i].alignment != 0 || end > height;
    check.height = std::max(check.height, end);
    for (size_t j = 0; j < i; ++j) check.overlaps += share_a_byte(buffers[i], offsets[i], buffers[j], offsets[j]);
  }
  return check;
}

int64_t check_lower_bound(const OffsetProblem& problem) {
  int64_t most = 0;
  for (const Interval& at : problem.buffers) {
    int64_t alive = 0;
    for (const Interval& other : problem.buffers) {
      if (other.lower <= at.lower && at.lower < other.upper) alive += other.size;
    }
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace plimsoll::plan
