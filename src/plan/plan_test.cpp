#include "plan/plan.h"

#include <gmock/gmock.h>

#include <limits>

#include "plan/check.h"

namespace plimsoll::plan {
namespace {

using program::Kind;
using program::Lane;
using program::Role;
using program::Wait;
using program::When;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// Microbatches are fed as x, of two slots; y = f(x), g += f(y); w is updated from g.
Problem loop(int slots) {
  Problem p{.name = "loop"};
  p.buffers = {{.name = "w", .size_bytes = 64, .category = Category::kParameters, .is_state = true},
               {.name = "x", .size_bytes = 64, .slots = slots},
               {.name = "y", .size_bytes = 64},
               {.name = "g", .size_bytes = 64}};
  const auto use = [](int buffer, int version, Role role) { return Use{buffer, 0, 64, version, role}; };
  const auto compute = [](int kernel, std::vector<Use> uses, double duration_ns, When when = When::kAlways) {
    return ProblemInstruction{
        .kernel = kernel, .uses = std::move(uses), .workspace_bytes = 8, .duration_ns = duration_ns, .when = when};
  };
  p.segments = {
      {"microbatch",
       4,
       {{.kind = Kind::kFeed, .lane = Lane::kHostToDevice, .uses = {use(1, 0, Role::kWrite)}, .label = "x"},
        compute(0, {use(1, 0, Role::kRead), use(2, 1, Role::kWrite)}, 1e9),
        compute(0, {use(2, 1, Role::kRead), use(3, 1, Role::kWrite)}, 10e9, When::kFirst),
        compute(1, {use(2, 1, Role::kRead), use(3, 1, Role::kAccumulate)}, 100e9, When::kNotFirst)}},
      {"update", 1, {compute(2, {use(0, 0, Role::kRead), use(3, 1, Role::kRead), use(0, 1, Role::kUpdate)}, 1000e9)}}};
  p.segments[0].instructions.push_back(compute(3, {use(3, 1, Role::kRead)}, 10000e9, When::kLast));
  p.outputs = {{"half", {3, 32, 64, 1, Role::kRead}}};
  return p;
}

void add_kernels(program::Program& program) {
  const TensorDesc desc{DType::kF32, {16}, {}};
  program.kernels = {{"f", {}, {desc}, {desc}, {}, 8},
                     {"f", {}, {desc}, {desc}, {0}, 8},
                     {"sgd", {}, {desc, desc}, {desc}, {}, 8, {{0, 0}}},
                     {"print", {}, {desc}, {}, {}, 8}};
}

std::string proof_of(program::Program program, const Budgets& budgets = {}) {
  add_kernels(program);
  const Status status = check_program(program, budgets);
  return status.ok() ? "proven" : status.error().message;
}

TEST(MakePlan, MakesAProgramThatPassesTheChecker) {
  for (const int slots : {1, 2, 3})
    for (const int64_t fence_bytes : {0, 1, 256}) {
      const auto plan = make_plan(loop(slots), {.fence_bytes = fence_bytes});
      ASSERT_TRUE(plan.ok());
      EXPECT_EQ(proof_of(plan->program), "proven") << slots << " " << fence_bytes;
      ASSERT_EQ(plan->program.outputs.size(), 1u);
      const program::Output& output = plan->program.outputs[0];
      EXPECT_EQ(plan->program.residences[static_cast<size_t>(output.residence)].buffer, 3);
      EXPECT_EQ(output, (program::Output{"half", output.residence, 32, 64, 1}));
    }
}

TEST(MakePlan, LetsAFeedRunOneSlotAhead) {
  // x is read by number 3 of lane compute, the last. With two slots its number 0 need only be over in the previous
  // iteration: so is then all of the one before it, which had this slot.
  Problem late = loop(2);
  std::swap(late.segments[0].instructions[1].uses, late.segments[0].instructions[4].uses);
  late.segments[0].instructions[1].uses = {{3, 0, 64, 1, Role::kAccumulate}};
  late.segments[0].instructions[4].uses = {{1, 0, 64, 0, Role::kRead}};
  EXPECT_THAT(make_plan(late)->program.segments[0].instructions[0].waits, ElementsAre(Wait{Lane::kCompute, 0, true}));
  late.buffers[1].slots = 1;
  EXPECT_THAT(make_plan(late)->program.segments[0].instructions[0].waits, ElementsAre(Wait{Lane::kCompute, 3, true}));
  late.segments[0].trips = 1;
  EXPECT_THAT(make_plan(late)->program.segments[0].instructions[0].waits, IsEmpty());
}

TEST(MakePlan, CountsEachInstructionInTheTripsInWhichItRuns) {
  EXPECT_DOUBLE_EQ(make_plan(loop(2))->predicted_s, 4 * 1 + 10 + 3 * 100 + 10000 + 1000);
  Problem once = loop(2);
  once.segments[0].trips = 1;
  EXPECT_DOUBLE_EQ(make_plan(once)->predicted_s, 1 + 10 + 10000 + 1000);
}

TEST(MakePlan, LeavesFencesFreeAroundEachWorkspace) {
  const auto plan = make_plan(loop(2), {.fence_bytes = 100});
  ASSERT_TRUE(plan.ok());
  int workspaces = 0;
  for (const program::Residence& workspace : plan->program.residences) {
    if (plan->program.buffers[static_cast<size_t>(workspace.buffer)].category != Category::kWorkspace) continue;
    ++workspaces;
    EXPECT_GE(workspace.offset_bytes, plan->state_bytes + 100);
    EXPECT_LE(workspace.extent_end() + 100, plan->arena_bytes);
    for (const program::Residence& other : plan->program.residences) {
      const bool lives_with = other.first < workspace.last && workspace.first < other.last;
      if (&other == &workspace || !lives_with) continue;
      EXPECT_TRUE(other.extent_end() + 100 <= workspace.offset_bytes ||
                  other.offset_bytes >= workspace.extent_end() + 100);
    }
  }
  EXPECT_EQ(workspaces, 5);
}

TEST(MakePlan, RefusesABudgetOneByteShortWithTheTightestStep) {
  const int64_t need = make_plan(loop(2))->arena_bytes;
  EXPECT_TRUE(make_plan(loop(2), {.budget = Bytes{need}}).ok());
  const auto plan = make_plan(loop(2), {.budget = Bytes{need - 1}});
  ASSERT_FALSE(plan.ok());
  ASSERT_NE(plan.error().infeasible, nullptr);
  EXPECT_EQ(plan.error().infeasible->needed_bytes, need);
  EXPECT_EQ(plan.error().infeasible->budget_bytes, need - 1);
  EXPECT_FALSE(plan.error().infeasible->holders.empty());
}

TEST(MakePlan, RefusesWhatNoAddressCanCount) {
  const auto refusal_of = [](auto change, PlanOptions options = {}) {
    Problem problem = loop(2);
    change(problem, options);
    const auto plan = make_plan(problem, options);
    EXPECT_FALSE(plan.ok());
    EXPECT_EQ(plan.ok() ? ErrorCode::kIo : plan.error().code, ErrorCode::kInvalidArgument);
    return plan.ok() ? "" : plan.error().message;
  };
  const std::string overflow = "[plan] more bytes than an address can count: the buffers of 'loop'";
  for (const int64_t size : {kMost, kMost - 1, kMost - 63, kMost / 2, kMost / 4 + 1})
    for (size_t buffer = 0; buffer < 4; ++buffer)
      EXPECT_EQ(refusal_of([&](Problem& p, PlanOptions&) { p.buffers[buffer].size_bytes = size; }), overflow);
  EXPECT_EQ(refusal_of([](Problem& p, PlanOptions&) {
              p.buffers[1].size_bytes = kMost / 8;
              p.buffers[1].slots = 3;
            }),
            overflow);
  EXPECT_EQ(refusal_of([](Problem& p, PlanOptions&) { p.buffers[0].state_offset = kMost - 64; }), overflow);
  EXPECT_EQ(refusal_of([](Problem& p, PlanOptions&) { p.step_base_bytes = kMost; }), overflow);
  EXPECT_EQ(refusal_of([](Problem& p, PlanOptions&) { p.segments[0].instructions[1].workspace_bytes = kMost; }),
            overflow);
  EXPECT_EQ(refusal_of([](Problem&, PlanOptions& o) { o.fence_bytes = kMost; }), overflow);
  EXPECT_THAT(refusal_of([](Problem& p, PlanOptions&) { p.buffers[2].size_bytes = -1; }), HasSubstr("buffer 'y'"));
  EXPECT_THAT(refusal_of([](Problem& p, PlanOptions&) { p.buffers[2].slots = 0; }), HasSubstr("no slot"));
}

}  // namespace
}  // namespace plimsoll::plan
