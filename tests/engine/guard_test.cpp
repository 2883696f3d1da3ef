#include <gtest/gtest.h>

#include "engine/small_step.h"
#include "memory/poison.h"
#include "plan/check.h"

namespace plimsoll::engine {
namespace {

struct Case {
  std::string model;
  int64_t microbatches;
};

class Guard : public testing::TestWithParam<Case> {
 protected:
  models::Model make_model(const ops::OpTable& ops) const {
    if (GetParam().model == "bert") return make_tiny_bert(ops, 3, 12);
    return GetParam().model == "mlp" ? make_mlp(ops, 56) : make_tiny_gpt2(ops, 3, 17, 0.1);
  }
  SmallStepOptions options(bool in_place) const {
    return {.microbatches = GetParam().microbatches, .in_place = in_place, .gives_gradients = true};
  }
};

TEST_P(Guard, FindsNoFaultAndTheSameBits) {
  const auto environment = make_environment(2);
  const models::Model model = make_model(environment->ops());
  for (const bool in_place : {true, false}) {
    SmallStep plain(*environment, model, options(in_place));
    SmallStep guarded(*environment, model, options(in_place));
    // The second step, so that moments are not zero.
    ASSERT_TRUE(plain.run(1).is_finite && plain.run(2).is_finite && guarded.run(1).is_finite);
    const runtime::GuardReport report = guarded.run_guarded(2, {.checks_outside = true});
    EXPECT_TRUE(report.outcome.is_finite);
    EXPECT_EQ(report.fault, "") << "in place: " << in_place;
    EXPECT_EQ(report.executed_peak_bytes, guarded.compiled().plan.arena_bytes) << "in place: " << in_place;
    expect_equal_bits(guarded.outputs(), plain.outputs(), "outputs");
    expect_equal_bits(guarded.state(), plain.state(), "state");
  }
}

// Case G4: reuse never changes a result.
TEST_P(Guard, CaseG4OutputsAndGradientsDoNotDependOnReuse) {
  const auto environment = make_environment(2);
  const models::Model model = make_model(environment->ops());
  SmallStep with(*environment, model, options(true));
  SmallStep without(*environment, model, options(false));
  for (const int64_t step : {1, 2, 3}) {
    ASSERT_TRUE(with.run(step).is_finite);
    ASSERT_TRUE(without.run(step).is_finite);
  }
  EXPECT_GT(with.outputs().size(), 6u);
  expect_equal_bits(with.outputs(), without.outputs(), "outputs and gradients");
  expect_equal_bits(with.state(), without.state(), "state");
  EXPECT_LE(with.compiled().plan.arena_bytes, without.compiled().plan.arena_bytes);
}

TEST_P(Guard, NoKernelWritesBeyondItsWorkspace) {
  const auto environment = make_environment(2);
  SmallStepOptions fenced = options(true);
  fenced.fence_bytes = memory::kFenceBytes;
  SmallStep step(*environment, make_model(environment->ops()), fenced);
  SmallStep plain(*environment, make_model(environment->ops()), options(true));
  const runtime::GuardReport report = step.run_guarded(1, {});
  EXPECT_EQ(report.fault, "");
  ASSERT_TRUE(plain.run(1).is_finite);
  expect_equal_bits(step.state(), plain.state(), "state");
  int64_t workspaces = 0;
  for (const program::Segment& segment : step.compiled().program().segments)
    for (const program::Instruction& instruction : segment.instructions)
      for (const program::Operand& operand : instruction.operands)
        if (operand.role == program::Role::kWorkspace)
          workspaces += program::count_runs(instruction.when, segment.trips);
  EXPECT_GT(workspaces, 0);
  EXPECT_EQ(report.fences, 2 * workspaces);
}

// What may share bytes is written down in every kernel, and the checker asks for it: without, the step is refused.
TEST_P(Guard, InPlaceStepsAreProvenByTheirKernels) {
  const auto environment = make_environment(1);
  SmallStep step(*environment, make_model(environment->ops()), options(true));
  program::Program program = step.compiled().program();
  EXPECT_TRUE(plan::check_program(program, {}).ok());
  for (program::Kernel& kernel : program.kernels) kernel.in_place.clear();
  EXPECT_FALSE(plan::check_program(program, {}).ok());
}

INSTANTIATE_TEST_SUITE_P(, Guard,
                         testing::Values(Case{"gpt2", 1}, Case{"gpt2", 4}, Case{"mlp", 1}, Case{"mlp", 4},
                                         Case{"bert", 1}, Case{"bert", 4}),
                         [](const testing::TestParamInfo<Case>& test) {
                           return test.param.model + "_microbatches_" + std::to_string(test.param.microbatches);
                         });

}  // namespace
}  // namespace plimsoll::engine
