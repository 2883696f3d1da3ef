#include "plan/plan.h"

#include <algorithm>
#include <map>

#include "plan/liveness.h"

namespace plimsoll::plan {
namespace {

using program::Instruction;
using program::Lane;
using program::Program;
using program::Residence;
using program::Role;

/// Something that needs an address in the step region: a buffer, or the workspace of one instruction.
struct Item {
  int buffer = 0;
  Lifetime life;
  int64_t size_bytes = 0;
  int slots = 1;

  int64_t slot_bytes() const { return align_up(size_bytes, kAlignment); }
};

class Planner {
 public:
  Planner(const Problem& problem, const PlanOptions& options) : problem_(problem), options_(options) {}

  Result<Plan> run() {
    plan_.program.name = problem_.name;
    plan_.program.compile_hash = problem_.compile_hash;
    add_buffers();
    place_state();
    add_items();
    PLIMSOLL_RETURN_IF_ERROR(place_items());
    find_tightest();
    PLIMSOLL_RETURN_IF_ERROR(check_budget());
    write_segments();
    plan_.predicted_s = predict_s();
    return std::move(plan_);
  }

 private:
  int64_t end_position() const {
    int64_t n = 0;
    for (const ProblemSegment& segment : problem_.segments) n += static_cast<int64_t>(segment.instructions.size());
    return n;
  }

  void add_buffers() {
    for (const ProblemBuffer& b : problem_.buffers)
      plan_.program.buffers.push_back(
          {.name = b.name, .size_bytes = b.size_bytes, .category = b.category, .origin = b.origin});
    residence_of_.assign(problem_.buffers.size(), -1);
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
        items_.push_back({static_cast<int>(i), lifetimes[i], buffer.size_bytes, buffer.slots});
    }
    int64_t position = 0;
    for (const ProblemSegment& segment : problem_.segments) {
      for (const ProblemInstruction& instruction : segment.instructions) {
        if (instruction.workspace_bytes > 0) {
          items_.push_back(
              {static_cast<int>(plan_.program.buffers.size()), {position, position + 1}, instruction.workspace_bytes});
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
      offsets.buffers.push_back({item.life.first, item.life.last, item.slot_bytes() * item.slots, kAlignment});
    PLIMSOLL_ASSIGN(const OffsetSolution solution, try_plan_offsets(offsets, options_.offsets));
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      const int residence = add_residence(item.buffer, item.life, plan_.state_bytes + solution.offsets[i], item.slots,
                                          item.slots > 1 ? item.slot_bytes() : 0);
      if (static_cast<size_t>(item.buffer) < residence_of_.size())
        residence_of_[static_cast<size_t>(item.buffer)] = residence;
      else
        workspace_residences_[item.life.first] = residence;
    }
    plan_.step_bytes = solution.height;
    plan_.step_lower_bound = solution.lower_bound;
    plan_.program.arena_bytes[static_cast<size_t>(options_.space)] = plan_.arena_bytes;
    return {};
  }

  void find_tightest() {
    std::map<int64_t, int64_t> change;
    for (const Item& item : items_) {
      change[item.life.first] += item.slot_bytes() * item.slots;
      change[item.life.last] -= item.slot_bytes() * item.slots;
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
      if (item.life.first <= where && where < item.life.last) hold(item.buffer, item.size_bytes * item.slots);
    std::stable_sort(plan_.holders.begin(), plan_.holders.end(),
                     [](const auto& a, const auto& b) { return a.size_bytes > b.size_bytes; });
  }

  Status check_budget() const {
    if (!options_.budget || plan_.arena_bytes <= options_.budget->value) return {};
    auto why = std::make_shared<Infeasible>();
    why->needed_bytes = plan_.arena_bytes;
    why->budget_bytes = options_.budget->value;
    const auto& segments = problem_.segments;
    if (static_cast<size_t>(plan_.tightest.segment) < segments.size())
      why->tightest_step = segments[static_cast<size_t>(plan_.tightest.segment)]
                               .instructions[static_cast<size_t>(plan_.tightest.index)]
                               .label;
    for (const Plan::Holder& holder : plan_.holders) why->holders.push_back({holder.name, holder.size_bytes});
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
  }

  Instruction make_instruction(const ProblemInstruction& from, int64_t position) const {
    Instruction to{.lane = from.lane, .kind = from.kind, .kernel = from.kernel, .when = from.when, .label = from.label};
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
  /// lane in this iteration, and, in a loop, on the last one of the iteration before.
  void add_waits(program::Segment& segment) const {
    std::vector<int> index_in_lane;
    std::array<int, program::kLaneCount> counts{};
    for (const Instruction& instruction : segment.instructions)
      index_in_lane.push_back(counts[static_cast<size_t>(instruction.lane)]++);
    const auto& all = segment.instructions;
    for (size_t i = 0; i < all.size(); ++i) {
      for (int lane = 0; lane < program::kLaneCount; ++lane) {
        if (lane == static_cast<int>(all[i].lane) || counts[static_cast<size_t>(lane)] == 0) continue;
        const auto conflicting = [&](size_t j) {
          return static_cast<int>(all[j].lane) == lane && conflict(all[i], all[j]);
        };
        const auto wait_on = [&](size_t j, bool previous) {
          segment.instructions[i].waits.push_back({static_cast<Lane>(lane), index_in_lane[j], previous});
        };
        size_t j = i;
        while (j > 0 && !conflicting(j - 1)) --j;
        if (j > 0) wait_on(j - 1, false);
        if (segment.trips == 1) continue;
        size_t k = all.size();
        while (k > i && !conflicting(k - 1)) --k;
        if (k > i) wait_on(k - 1, true);
      }
    }
  }

  /// Whether two instructions touch the same bytes and one of them writes.
  bool conflict(const Instruction& a, const Instruction& b) const {
    for (const program::Operand& x : a.operands) {
      for (const program::Operand& y : b.operands) {
        if (x.role == Role::kRead && y.role == Role::kRead) continue;
        const Residence& p = plan_.program.residences[static_cast<size_t>(x.residence)];
        const Residence& q = plan_.program.residences[static_cast<size_t>(y.residence)];
        if (p.space == q.space && p.offset_bytes < q.extent_end() && q.offset_bytes < p.extent_end()) return true;
      }
    }
    return false;
  }

  double predict_s() const {
    double total_ns = 0;
    for (const ProblemSegment& segment : problem_.segments) {
      double once_ns = 0;
      for (const ProblemInstruction& instruction : segment.instructions) {
        // "first" and "not first" variants share one trip.
        const bool is_once = instruction.when == program::When::kFirst || instruction.when == program::When::kLast;
        once_ns += is_once && segment.trips > 1 ? 0 : instruction.duration_ns;
      }
      total_ns += once_ns * static_cast<double>(segment.trips);
    }
    return total_ns * 1e-9;
  }

  const Problem& problem_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<Item> items_;
  std::vector<int> residence_of_;                ///< by problem buffer
  std::map<int64_t, int> workspace_residences_;  ///< by position
};

}  // namespace

Result<Plan> make_plan(const Problem& problem, const PlanOptions& options) { return Planner(problem, options).run(); }

}  // namespace plimsoll::plan
