#include "plan/early_release.h"

#include <algorithm>
#include <map>
#include <set>

#include "plan/liveness.h"

namespace plimsoll::plan {
namespace {

using program::Kind;
using program::Role;

constexpr const char* kReason = "as soon as what it reads is complete, which then dies";

bool conflict(const Use& a, const Use& b) {
  return a.buffer == b.buffer && a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes &&
         (a.role != Role::kRead || b.role != Role::kRead);
}

bool conflict(const ProblemInstruction& a, const ProblemInstruction& b) {
  return std::ranges::any_of(
      a.uses, [&](const Use& x) { return std::ranges::any_of(b.uses, [&](const Use& y) { return conflict(x, y); }); });
}

class Releaser {
 public:
  explicit Releaser(Problem& problem) : problem_(problem), lifetimes_(find_lifetimes(problem)) {
    for (const ProblemOutput& output : problem.outputs) outputs_.insert(output.use.buffer);
  }

  void run() {
    int64_t position = 0;
    for (ProblemSegment& segment : problem_.segments) {
      if (segment.trips == 1) reorder(segment, position);
      position += static_cast<int64_t>(segment.instructions.size());
    }
  }

 private:
  void reorder(ProblemSegment& segment, int64_t position) {
    std::vector<ProblemInstruction> order;
    order.reserve(segment.instructions.size());
    for (ProblemInstruction& instruction : segment.instructions) {
      const bool moves = releases(instruction, position++);
      const auto at = moves ? earliest(order, instruction) : order.end();
      if (at != order.end()) instruction.reason = kReason;
      order.insert(at, std::move(instruction));
    }
    segment.instructions = std::move(order);
  }

  /// Writes state, ends the life of buffers that are no smaller than its workspace, and begins none.
  bool releases(const ProblemInstruction& instruction, int64_t position) const {
    if (instruction.kind != Kind::kCompute || !writes_state(instruction)) return false;
    std::map<int, int64_t> ended;
    for (const Use& use : instruction.uses) {
      const ProblemBuffer& buffer = problem_.buffers[static_cast<size_t>(use.buffer)];
      const Lifetime& life = lifetimes_[static_cast<size_t>(use.buffer)];
      if (buffer.is_state) continue;
      if (life.first == position) return false;
      if (life.last == position + 1 && !outputs_.contains(use.buffer)) ended[use.buffer] = buffer.size_bytes;
    }
    int64_t bytes = 0;
    for (const auto& [buffer, size] : ended) bytes += size;
    return bytes > 0 && bytes >= instruction.workspace_bytes;
  }

  /// Directly behind the last of `order` that `instruction` may not pass.
  std::vector<ProblemInstruction>::iterator earliest(std::vector<ProblemInstruction>& order,
                                                     const ProblemInstruction& instruction) const {
    auto at = order.end();
    while (at != order.begin()) {
      const ProblemInstruction& before = *std::prev(at);
      if (before.kind == Kind::kCheck || conflict(before, instruction)) break;
      --at;
    }
    return at;
  }

  bool writes_state(const ProblemInstruction& instruction) const {
    return std::ranges::any_of(instruction.uses, [&](const Use& use) {
      return use.role != Role::kRead && problem_.buffers[static_cast<size_t>(use.buffer)].is_state;
    });
  }

  Problem& problem_;
  std::set<int> outputs_;            ///< buffers that the host reads after the step
  std::vector<Lifetime> lifetimes_;  ///< in the order that was given
};

}  // namespace

Problem release_early(Problem problem) {
  Releaser(problem).run();
  return problem;
}

}  // namespace plimsoll::plan
