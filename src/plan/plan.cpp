#include "plan/plan.h"

#include <algorithm>
#include <map>

#include "core/checked.h"
#include "plan/liveness.h"
#include "program/structure.h"

namespace plimsoll::plan {
namespace {

using program::Instruction;
using program::Lane;
using program::Residence;
using program::Role;

/// Something that needs an address in the step region: a buffer, or the workspace of one instruction.
struct Item {
  int buffer = -1;         ///< of the problem; -1: workspace
  int program_buffer = 0;  ///< of the program
  Lifetime life;
  int64_t size_bytes = 0;
  int slots = 1;
  int64_t fence_bytes = 0;  ///< free on both sides

  int64_t slot_bytes() const { return align_up(size_bytes, kAlignment); }
  int64_t total_bytes() const { return slot_bytes() * slots + 2 * fence_bytes; }
};

/// How two instructions touch the same bytes, one of them writing.
enum class Conflict {
  kNone,
  kInTurns,  ///< only in storage of which consecutive iterations have different slots
  kAlways
};

class Planner {
 public:
  Planner(const Problem& problem, const PlanOptions& options) : problem_(problem), options_(options) {}

  Result<Plan> run() {
    plan_.program.name = problem_.name;
    plan_.program.compile_hash = problem_.compile_hash;
    PLIMSOLL_RETURN_IF_ERROR(check_sizes(problem_, options_));
    add_buffers();
    place_state();
    add_items();
    PLIMSOLL_RETURN_IF_ERROR(place_items());
    find_tightest();
    write_segments();
    PLIMSOLL_RETURN_IF_ERROR(check_budget());
    plan_.predicted_s = predict_s(problem_);
    return std::move(plan_);
  }

 private:
  int64_t end_position() const {
    int64_t n = 0;
    for (const ProblemSegment& segment : problem_.segments) n += static_cast<int64_t>(segment.instructions.size());
    return n;
  }

  void add_buffers() {
    for (const ProblemBuffer& b : problem_.buffers) {
      if (b.same_content_as >= 0) continue;  // the last of all, so that the others have one number in both
      plan_.program.buffers.push_back(
          {.name = b.name, .size_bytes = b.size_bytes, .category = b.category, .origin = b.origin});
    }
    residence_of_.assign(problem_.buffers.size(), -1);
  }

  int program_buffer(size_t buffer) const {
    const int original = problem_.buffers[buffer].same_content_as;
    return original >= 0 ? original : static_cast<int>(buffer);
  }

  int add_residence(int buffer, const Lifetime& life, int64_t offset, int slots, int64_t stride) {
    plan_.program.residences.push_back({.buffer = buffer,
                                        .end_bytes = plan_.program.buffers[static_cast<size_t>(buffer)].size_bytes,
                                        .space = options_.space,
                                        .offset_bytes = offset,
                                        .slots = slots,
                                        .stride_bytes = stride,
                                        .first = to_point(problem_, life.first),
                                        .last = to_point(problem_, life.last)});
    plan_.arena_bytes = std::max(plan_.arena_bytes, plan_.program.residences.back().extent_end());
    return static_cast<int>(plan_.program.residences.size()) - 1;
  }

  void place_state() {
    int64_t next = align_up(problem_.step_base_bytes, kAlignment);
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const ProblemBuffer& buffer = problem_.buffers[i];
      if (!buffer.is_state) continue;
      const int64_t offset = buffer.state_offset.value_or(next);
      next = std::max(next, align_up(offset + buffer.size_bytes, kAlignment));
      residence_of_[i] = add_residence(static_cast<int>(i), {0, end_position()}, offset, 1, 0);
    }
    plan_.state_bytes = next;
  }

  void add_items() {
    const std::vector<Lifetime> lifetimes = find_lifetimes(problem_);
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const ProblemBuffer& buffer = problem_.buffers[i];
      if (!buffer.is_state && lifetimes[i].first < lifetimes[i].last)
        items_.push_back({static_cast<int>(i), program_buffer(i), lifetimes[i], buffer.size_bytes, buffer.slots});
    }
    int64_t position = 0;
    for (const ProblemSegment& segment : problem_.segments) {
      for (const ProblemInstruction& instruction : segment.instructions) {
        if (instruction.workspace_bytes > 0) {
          items_.push_back({.program_buffer = static_cast<int>(plan_.program.buffers.size()),
                            .life = {position, position + 1},
                            .size_bytes = instruction.workspace_bytes,
                            .fence_bytes = align_up(options_.fence_bytes, kAlignment)});
          plan_.program.buffers.push_back({.name = instruction.label + ".workspace",
                                           .size_bytes = instruction.workspace_bytes,
                                           .category = program::Category::kWorkspace,
                                           .origin = instruction.label});
        }
        ++position;
      }
    }
  }

  Status place_items() {
    OffsetProblem offsets;
    for (const Item& item : items_)
      offsets.buffers.push_back({item.life.first, item.life.last, item.total_bytes(), kAlignment});
    PLIMSOLL_ASSIGN(const OffsetSolution solution, try_plan_offsets(offsets, options_.offsets));
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const int64_t offset = plan_.state_bytes + solution.offsets[i] + item.fence_bytes;
      const int residence =
          add_residence(item.program_buffer, item.life, offset, item.slots, item.slots > 1 ? item.slot_bytes() : 0);
      if (item.buffer >= 0)
        residence_of_[static_cast<size_t>(item.buffer)] = residence;
      else
        workspace_residences_[item.life.first] = residence;
    }
    plan_.step_bytes = solution.height;
    plan_.step_lower_bound = solution.lower_bound;
    if (options_.fence_bytes > 0) plan_.arena_bytes = std::max(plan_.arena_bytes, plan_.state_bytes + solution.height);
    plan_.program.arena_bytes[static_cast<size_t>(options_.space)] = plan_.arena_bytes;
    return {};
  }

  void find_tightest() {
    std::map<int64_t, int64_t> change;
    for (const Item& item : items_) {
      change[item.life.first] += item.total_bytes();
      change[item.life.last] -= item.total_bytes();
    }
    int64_t alive = 0, most = -1, where = 0;
    for (const auto& [position, delta] : change) {
      alive += delta;
      if (alive > most) {
        most = alive;
        where = position;
      }
    }
    plan_.tightest = to_point(problem_, where);
    const auto hold = [&](int buffer, int64_t size) {
      const program::Buffer& b = plan_.program.buffers[static_cast<size_t>(buffer)];
      plan_.holders.push_back({b.name, b.category, size});
    };
    for (size_t i = 0; i < problem_.buffers.size(); ++i)
      if (problem_.buffers[i].is_state) hold(static_cast<int>(i), problem_.buffers[i].size_bytes);
    for (const Item& item : items_)
      if (item.life.first <= where && where < item.life.last) hold(item.program_buffer, item.size_bytes * item.slots);
    std::stable_sort(plan_.holders.begin(), plan_.holders.end(),
                     [](const auto& a, const auto& b) { return a.size_bytes > b.size_bytes; });
  }

  Status check_budget() const {
    if (!options_.budget || plan_.arena_bytes <= options_.budget->value) return {};
    auto why = std::make_shared<Infeasible>();
    why->needed_bytes = plan_.arena_bytes;
    why->budget_bytes = options_.budget->value;
    describe_tightest(plan_, *why);
    return Error{ErrorCode::kInfeasible,
                 "the step needs " + to_string(Bytes{plan_.arena_bytes}) + " in " +
                     std::string(to_string(options_.space)) + ", the budget is " + to_string(*options_.budget),
                 why};
  }

  void write_segments() {
    int64_t position = 0;
    std::vector<program::StateEntry> exit;
    std::vector<int> versions(problem_.buffers.size(), 0);
    for (const ProblemSegment& from : problem_.segments) {
      program::Segment to{.name = from.name, .trips = from.trips};
      for (const ProblemInstruction& instruction : from.instructions) {
        to.instructions.push_back(make_instruction(instruction, position++));
        for (const Use& use : instruction.uses)
          if (use.role != Role::kRead) versions[static_cast<size_t>(use.buffer)] = use.version;
      }
      add_waits(to);
      plan_.program.segments.push_back(std::move(to));
    }
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (!problem_.buffers[i].is_state) continue;
      plan_.program.entry_state.push_back({residence_of_[i], 0});
      plan_.program.exit_state.push_back({residence_of_[i], versions[i]});
    }
    for (const ProblemOutput& output : problem_.outputs)
      plan_.program.outputs.push_back({.name = output.name,
                                       .residence = residence_of_[static_cast<size_t>(output.use.buffer)],
                                       .begin_bytes = output.use.begin_bytes,
                                       .end_bytes = output.use.end_bytes,
                                       .version = output.use.version});
  }

  Instruction make_instruction(const ProblemInstruction& from, int64_t position) const {
    Instruction to{.lane = from.lane,
                   .kind = from.kind,
                   .kernel = from.kernel,
                   .when = from.when,
                   .label = from.label,
                   .reason = from.reason};
    for (const Use& use : from.uses)
      to.operands.push_back({.residence = residence_of_[static_cast<size_t>(use.buffer)],
                             .begin_bytes = use.begin_bytes,
                             .end_bytes = use.end_bytes,
                             .version = use.version,
                             .role = use.role});
    if (const auto it = workspace_residences_.find(position); it != workspace_residences_.end())
      to.operands.push_back({.residence = it->second, .end_bytes = from.workspace_bytes, .role = Role::kWorkspace});
    return to;
  }

  /// One wait for each pair of lanes that touch the same storage: on the latest conflicting instruction of the other
  /// lane in this iteration, and, in a loop, on the last one of the iteration before. Where that iteration had another
  /// slot, the other lane need only have begun it: then it has ended the one that had this slot.
  void add_waits(program::Segment& segment) const {
    std::vector<Instruction>& all = segment.instructions;
    std::array<std::vector<size_t>, program::kLaneCount> lanes;
    for (size_t i = 0; i < all.size(); ++i) lanes[static_cast<size_t>(all[i].lane)].push_back(i);
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t lane = 0; lane < lanes.size(); ++lane) {
        const std::vector<size_t>& others = lanes[lane];
        if (lane == static_cast<size_t>(all[i].lane) || others.empty()) continue;
        const auto conflict_with = [&](size_t j) { return find_conflict(all[i], all[others[j]]); };
        const auto wait_on = [&](size_t j, bool previous) {
          all[i].waits.push_back({static_cast<Lane>(lane), static_cast<int>(j), previous});
        };
        const auto before = static_cast<size_t>(std::lower_bound(others.begin(), others.end(), i) - others.begin());
        size_t j = before;
        while (j > 0 && conflict_with(j - 1) == Conflict::kNone) --j;
        if (j > 0) wait_on(j - 1, false);
        if (segment.trips == 1) continue;
        bool has_turns = false;
        size_t k = others.size();
        for (; k > before; --k) {
          const Conflict conflict = conflict_with(k - 1);
          if (conflict == Conflict::kAlways) break;
          has_turns = has_turns || conflict == Conflict::kInTurns;
        }
        if (k > before)
          wait_on(k - 1, true);
        else if (has_turns)
          wait_on(0, true);
      }
    }
  }

  Conflict find_conflict(const Instruction& a, const Instruction& b) const {
    Conflict out = Conflict::kNone;
    for (const program::Operand& x : a.operands) {
      for (const program::Operand& y : b.operands) {
        if (x.role == Role::kRead && y.role == Role::kRead) continue;
        const Residence& p = plan_.program.residences[static_cast<size_t>(x.residence)];
        const Residence& q = plan_.program.residences[static_cast<size_t>(y.residence)];
        if (p.space != q.space || p.offset_bytes >= q.extent_end() || q.offset_bytes >= p.extent_end()) continue;
        if (x.residence != y.residence || p.slots == 1) return Conflict::kAlways;
        out = Conflict::kInTurns;
      }
    }
    return out;
  }

  const Problem& problem_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<Item> items_;
  std::vector<int> residence_of_;                ///< by problem buffer
  std::map<int64_t, int> workspace_residences_;  ///< by position
};

}  // namespace

double predict_s(const Problem& problem) {
  double total_ns = 0;
  for (const ProblemSegment& segment : problem.segments)
    for (const ProblemInstruction& instruction : segment.instructions)
      total_ns += instruction.duration_ns * static_cast<double>(program::count_runs(instruction.when, segment.trips));
  return total_ns * 1e-9;
}

void describe_tightest(const Plan& plan, Infeasible& why) {
  const auto& segments = plan.program.segments;
  if (static_cast<size_t>(plan.tightest.segment) < segments.size())
    why.tightest_step = segments[static_cast<size_t>(plan.tightest.segment)]
                            .instructions[static_cast<size_t>(plan.tightest.index)]
                            .label;
  for (const Plan::Holder& holder : plan.holders) why.holders.push_back({holder.name, holder.size_bytes});
}

// Where all sizes together are no more than an extent may have, no sum of some of them overflows.
Status check_sizes(const Problem& problem, const PlanOptions& options) {
  std::optional<int64_t> total = 0;
  const auto add = [&](int64_t size, int64_t count) {
    const auto padded = checked_align_up(size, kAlignment);
    const auto all = padded ? checked_multiply(*padded, count) : std::nullopt;
    total = total && all ? checked_add(*total, *all) : std::nullopt;
  };
  const auto refusal = [&](const std::string& what) {
    return invalid_argument("[plan] " + what + " of '" + problem.name + "'");
  };
  int64_t highest_state = 0;
  for (const ProblemBuffer& buffer : problem.buffers) {
    const int64_t offset = buffer.state_offset.value_or(0);
    if (buffer.size_bytes < 0 || offset < 0) return refusal("negative size or offset in buffer '" + buffer.name + "'");
    if (buffer.slots < 1) return refusal("no slot in buffer '" + buffer.name + "'");
    add(buffer.size_bytes, buffer.slots);
    highest_state = std::max(highest_state, offset);
  }
  for (const ProblemSegment& segment : problem.segments)
    for (const ProblemInstruction& instruction : segment.instructions) {
      if (instruction.workspace_bytes < 0) return refusal("negative workspace in '" + instruction.label + "'");
      add(instruction.workspace_bytes, 1);
      if (instruction.workspace_bytes > 0) add(options.fence_bytes, 2);
    }
  if (problem.step_base_bytes < 0 || options.fence_bytes < 0) return refusal("negative base or fence");
  add(problem.step_base_bytes, 1);
  add(highest_state, 1);
  if (total && *total <= program::kMostBytes) return {};
  return refusal("more bytes than an address can count: the buffers");
}

Result<Plan> make_plan(const Problem& problem, const PlanOptions& options) { return Planner(problem, options).run(); }

}  // namespace plimsoll::plan
