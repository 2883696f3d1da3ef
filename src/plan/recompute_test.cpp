#include "plan/recompute.h"

#include <gmock/gmock.h>

#include "plan/check.h"
#include "plan/plan.h"

namespace plimsoll::plan {
namespace {

using program::Role;
using ::testing::ElementsAre;

constexpr int64_t kBytes = 6400;
constexpr RecomputeOptions kAnyWork{.most_work = 1};

Use read(int buffer, int version = 1) { return {buffer, 0, kBytes, version, Role::kRead}; }
Use write(int buffer) { return {buffer, 0, kBytes, 1, Role::kWrite}; }

/// `flops`: of one run; each moves what it uses.
ProblemInstruction compute(std::string label, int kernel, std::vector<Use> uses, int64_t flops = 0) {
  const auto bytes = static_cast<int64_t>(uses.size()) * kBytes;
  return {.kernel = kernel, .uses = std::move(uses), .flops = flops, .bytes = bytes, .label = std::move(label)};
}

enum Buffer { kX, kPre, kAct, kOut, kGrad };

/// x → pre → act → out, then back: the gradient is made from out, act and pre. act is cheap, the others are products.
Problem layer() {
  Problem p{.name = "layer"};
  for (const char* name : {"x", "pre", "act", "out", "grad"}) p.buffers.push_back({.name = name, .size_bytes = kBytes});
  p.buffers[kX].is_state = true;
  constexpr int64_t kMuch = 1'000'000;
  p.segments = {
      {"step",
       1,
       {compute("pre", 0, {read(kX, 0), write(kPre)}, kMuch), compute("act", 1, {read(kPre), write(kAct)}),
        compute("out", 0, {read(kAct), write(kOut)}, kMuch), compute("grad", 2, {read(kOut), write(kGrad)}, kMuch),
        compute("back", 3, {read(kPre), read(kAct), read(kGrad)}, kMuch)}}};
  return p;
}

std::vector<std::string> labels(const Problem& problem) {
  std::vector<std::string> out;
  for (const ProblemSegment& segment : problem.segments)
    for (const ProblemInstruction& instruction : segment.instructions) out.push_back(instruction.label);
  return out;
}

Status prove(const Problem& problem) {
  Plan plan = make_plan(problem).value();
  const TensorDesc d{DType::kF32, {kBytes / 4}, {}};
  plan.program.kernels = {
      {"matmul", {}, {d}, {d}}, {"gelu", {}, {d}, {d}}, {"loss", {}, {d}, {d}}, {"use", {}, {d, d, d}, {}}};
  return check_program(plan.program, {});
}

TEST(Recompute, MakesACheapResultAgainBeforeItsReadInTheBackwardPass) {
  const Problem after = recompute(layer(), kAnyWork);
  EXPECT_THAT(labels(after), ElementsAre("pre", "act", "out", "grad", "act.again", "back"));
  const Plan before_plan = make_plan(layer()).value(), plan = make_plan(after).value();
  EXPECT_EQ(before_plan.step_bytes, 4 * kBytes);  // pre, act, out and grad
  EXPECT_EQ(plan.step_bytes, 3 * kBytes);
  EXPECT_EQ(plan.program.buffers, before_plan.program.buffers);
  EXPECT_EQ(plan.program.residences.size(), before_plan.program.residences.size() + 1);
}

TEST(Recompute, IsProvenByTheChecker) {
  EXPECT_TRUE(prove(layer()).ok());
  EXPECT_TRUE(prove(recompute(layer(), kAnyWork)).ok());
  // Made again by another rule, it is not the same content.
  Problem wrong = recompute(layer(), kAnyWork);
  wrong.segments[0].instructions[4].kernel = 0;
  EXPECT_THAT(prove(wrong).error().message, ::testing::HasSubstr("makes version 1 of 'act' by matmul"));
}

TEST(Recompute, KeepsWhatCostsTooMuchOrSavesTooLittle) {
  EXPECT_EQ(labels(recompute(layer(), {.most_work = 0.01})), labels(layer()));
  EXPECT_EQ(labels(recompute(layer(), {.most_work = 1, .least_saving = 0.5})), labels(layer()));
  Problem product = layer();
  product.segments[0].instructions[1].flops = 9 * product.segments[0].instructions[1].bytes;
  EXPECT_EQ(labels(recompute(product, kAnyWork)), labels(layer()));
}

TEST(Recompute, KeepsWhatTheHostReadsAndWhatCannotBeMadeAgain) {
  Problem output = layer();
  output.outputs = {{"act", read(kAct)}};
  EXPECT_EQ(labels(recompute(output, kAnyWork)), labels(layer()));
  Problem gone = layer();
  gone.segments[0].instructions[4].uses.erase(gone.segments[0].instructions[4].uses.begin());  // pre died before
  EXPECT_EQ(labels(recompute(gone, kAnyWork)), labels(layer()));
  Problem changed = layer();  // pre is overwritten on the way
  changed.segments[0].instructions[3].uses.push_back({kPre, 0, kBytes, 2, Role::kUpdate});
  changed.segments[0].instructions[4].uses[0].version = 2;
  EXPECT_EQ(labels(recompute(changed, kAnyWork)), labels(layer()));
}

TEST(Recompute, WorksInEveryMicrobatch) {
  Problem looping = layer();
  looping.segments[0].trips = 3;
  EXPECT_EQ(labels(recompute(looping, kAnyWork)).size(), 6u);
  EXPECT_TRUE(prove(recompute(looping, kAnyWork)).ok());
}

}  // namespace
}  // namespace plimsoll::plan
