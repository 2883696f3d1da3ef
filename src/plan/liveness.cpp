#include "plan/liveness.h"

#include <algorithm>

namespace plimsoll::plan {
namespace {

/// What is known of one buffer while the segments are walked.
struct Seen {
  int64_t first = -1;
  int64_t last = -1;
  int first_segment = -1;
  int last_segment = -1;
  bool is_carried = false;
};

}  // namespace

std::vector<Lifetime> find_lifetimes(const Problem& problem) {
  std::vector<Seen> seen(problem.buffers.size());
  std::vector<int64_t> begins{0};
  for (const ProblemSegment& segment : problem.segments) {
    const int index = static_cast<int>(begins.size()) - 1;
    int64_t position = begins.back();
    for (const ProblemInstruction& instruction : segment.instructions) {
      for (const Use& use : instruction.uses) {
        Seen& s = seen[static_cast<size_t>(use.buffer)];
        if (s.first < 0) s = {.first = position, .first_segment = index, .is_carried = s.is_carried};
        s.last = position;
        s.last_segment = index;
        s.is_carried = s.is_carried || use.role == program::Role::kAccumulate;
      }
      ++position;
    }
    begins.push_back(position);
  }
  std::vector<bool> is_output(problem.buffers.size());
  for (const ProblemOutput& output : problem.outputs) is_output[static_cast<size_t>(output.use.buffer)] = true;
  std::vector<Lifetime> out;
  for (size_t i = 0; i < seen.size(); ++i) {
    const Seen& s = seen[i];
    const ProblemBuffer& buffer = problem.buffers[i];
    if (buffer.is_state) {
      out.push_back({0, begins.back()});
      continue;
    }
    if (s.first < 0) {
      out.push_back({0, 0});
      continue;
    }
    Lifetime life{s.first, s.last + 1};
    const bool spans = s.is_carried || buffer.slots > 1 || s.first_segment != s.last_segment;
    const auto loops = [&](int segment) { return problem.segments[static_cast<size_t>(segment)].trips > 1; };
    if (spans && loops(s.first_segment)) life.first = begins[static_cast<size_t>(s.first_segment)];
    if (spans && loops(s.last_segment)) life.last = begins[static_cast<size_t>(s.last_segment) + 1];
    if (is_output[i]) life.last = begins.back();
    out.push_back(life);
  }
  return out;
}

program::Point to_point(const Problem& problem, int64_t position) {
  for (size_t s = 0; s < problem.segments.size(); ++s) {
    const auto count = static_cast<int64_t>(problem.segments[s].instructions.size());
    if (position < count) return {static_cast<int>(s), static_cast<int>(position)};
    position -= count;
  }
  return {static_cast<int>(problem.segments.size()), 0};
}

}  // namespace plimsoll::plan
