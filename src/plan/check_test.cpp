#include "plan/check.h"

#include <gmock/gmock.h>

#include <functional>

#include "program/sample_programs.h"

namespace plimsoll::plan {
namespace {

using program::Instruction;
using program::Lane;
using program::Program;
using program::Role;
using program::When;
namespace samples = program::samples;
using ::testing::HasSubstr;

std::string refusal_of(const Program& program, const Budgets& budgets = {}) {
  const Status status = check_program(program, budgets);
  return status.ok() ? "accepted" : status.error().message;
}

/// Two copies of one weight on a device: recomputed activations, in-place chains and copies between spaces.
Program offloaded() {
  using samples::compute, samples::read, samples::update, samples::write;
  Program p;
  p.kernels = {{"f", {}, {samples::f32(16), samples::f32(16)}, {samples::f32(16)}, {}, 0},
               {"sgd", {}, {samples::f32(16), samples::f32(16)}, {samples::f32(16)}, {}, 0, {{0, 0}}}};
  p.buffers = {
      {"w", 64, Category::kParameters, "w"}, {"x", 64, Category::kInput, ""}, {"h", 64, Category::kActivations, ""}};
  p.residences = {
      {.buffer = 0, .end_bytes = 64, .space = Space::kDevice, .first = {0, 0}, .last = {1, 0}},
      {.buffer = 1, .end_bytes = 64, .space = Space::kDevice, .offset_bytes = 64, .first = {0, 0}, .last = {1, 0}},
      {.buffer = 2, .end_bytes = 64, .space = Space::kDevice, .offset_bytes = 128, .first = {0, 1}, .last = {0, 3}},
      {.buffer = 2, .end_bytes = 64, .space = Space::kHost, .offset_bytes = 0, .first = {0, 2}, .last = {1, 0}},
      {.buffer = 2, .end_bytes = 64, .space = Space::kDevice, .offset_bytes = 128, .first = {0, 3}, .last = {1, 0}}};
  Instruction out{
      .lane = Lane::kDeviceToHost, .kind = program::Kind::kCopy, .operands = {read(2, 0, 64, 1), write(3, 0, 64, 1)}};
  out.waits = {{Lane::kCompute, 1, false}};
  Instruction again = compute(0, "h", {read(1, 0, 64, 1), read(0, 0, 64, 0), write(4, 0, 64, 1)});
  again.waits = {{Lane::kDeviceToHost, 0, false}};
  p.segments = {{"step",
                 1,
                 {samples::feed("x", write(1, 0, 64, 1)),
                  compute(0, "h", {read(1, 0, 64, 1), read(0, 0, 64, 0), write(2, 0, 64, 1)}), out, again,
                  compute(1, "w", {read(0, 0, 64, 0), read(4, 0, 64, 1), update(0, 0, 64, 1)})}}};
  p.entry_state = {{0, 0}};
  p.exit_state = {{0, 1}};
  p.arena_bytes = {192, 64, 0, 0};
  return p;
}

/// h = f(x, w) and h += f(x, w), then h anew in a second residence, in the same two steps; both halves of h are read.
Program recomputed() {
  using samples::compute, samples::read, samples::update, samples::write;
  Program p;
  p.kernels = {{"f", {{"axis", int64_t{0}}}, {samples::f32(16), samples::f32(16)}, {samples::f32(16)}, {}, 0},
               {"f", {{"axis", int64_t{0}}}, {samples::f32(16), samples::f32(16)}, {samples::f32(16)}, {0}, 0},
               {"g", {}, {samples::f32(16)}, {samples::f32(16)}, {}, 0}};
  p.buffers = {{"w", 128, Category::kParameters, "w"}, {"x", 64}, {"h", 64}, {"y", 64}};
  const program::Point end{0, 8};
  p.residences = {{.buffer = 0, .end_bytes = 128, .first = {0, 0}, .last = end},
                  {.buffer = 1, .end_bytes = 64, .offset_bytes = 128, .first = {0, 0}, .last = end},
                  {.buffer = 2, .end_bytes = 64, .offset_bytes = 192, .first = {0, 1}, .last = {0, 4}},
                  {.buffer = 2, .end_bytes = 64, .offset_bytes = 256, .first = {0, 5}, .last = end},
                  {.buffer = 3, .end_bytes = 64, .offset_bytes = 320, .first = {0, 3}, .last = end}};
  const auto add_h = [&](int kernel, int residence, program::Operand dst) {
    dst.residence = residence;
    p.segments[0].instructions.push_back(compute(kernel, "h", {read(1, 0, 64, 1), read(0, 0, 64, 0), dst}));
  };
  p.segments = {{"step", 1, {samples::feed("x", write(1, 0, 64, 1))}}};
  add_h(0, 2, write(2, 0, 64, 1));
  add_h(1, 2, update(2, 0, 64, 2));
  p.segments[0].instructions.push_back(compute(2, "y", {read(2, 0, 64, 2), write(4, 0, 64, 1)}));
  p.segments[0].instructions.push_back(samples::feed("x", write(1, 0, 64, 1)));
  add_h(0, 3, write(3, 0, 64, 1));
  add_h(1, 3, update(3, 0, 64, 2));
  p.segments[0].instructions.push_back(compute(2, "y", {read(3, 0, 64, 2), write(4, 0, 64, 1)}));
  p.entry_state = p.exit_state = {{0, 0}};
  p.outputs = {{"y", 4, 0, 64, 1}};
  p.arena_bytes[1] = 384;
  return p;
}

TEST(CheckProgram, AcceptsEachKindOfValidProgram) {
  EXPECT_EQ(refusal_of(Program{}), "accepted");
  EXPECT_EQ(refusal_of(samples::single_segment()), "accepted");
  EXPECT_EQ(refusal_of(samples::streamed()), "accepted");
  EXPECT_EQ(refusal_of(offloaded()), "accepted");
  EXPECT_EQ(refusal_of(recomputed()), "accepted");
  for (int64_t trips : {1, 2, 3, 4, 5, 6, 7, 8, 9, 1000, 1001}) {
    Program program = samples::microbatches();
    program.segments[1].trips = trips;
    EXPECT_EQ(refusal_of(program), "accepted") << trips;
  }
}

TEST(CheckProgram, HoldsBudgetsToTheByte) {
  Budgets budgets;
  budgets.bytes = {0, 768, 0, 256};
  EXPECT_EQ(refusal_of(samples::streamed(), budgets), "accepted");
  budgets.bytes[3] = 255;
  EXPECT_THAT(refusal_of(samples::streamed(), budgets), HasSubstr("the disk arena has 256 bytes; the budget is 255"));
}

struct Case {
  const char* name;
  std::function<Program()> make;
  std::function<void(Program&)> damage;
  const char* message;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class CheckRefuses : public ::testing::TestWithParam<Case> {};

TEST_P(CheckRefuses, WithThePlaceAndTheReason) {
  Program program = GetParam().make();
  GetParam().damage(program);
  EXPECT_THAT(refusal_of(program), HasSubstr(GetParam().message));
}

Instruction& step(Program& p, int segment, int index) { return p.segments[segment].instructions[index]; }

INSTANTIATE_TEST_SUITE_P(
    , CheckRefuses,
    ::testing::Values(
        Case{"Structure", samples::single_segment, [](Program& p) { step(p, 0, 1).kernel = 9; },
             "segments[0].instructions[1].kernel is 9; expected 0..3"},
        Case{"SharedBytes", samples::single_segment, [](Program& p) { p.residences[2].offset_bytes = 508; },
             "residence 2 'y' and residence 1 'x' share bytes in host while both live"},
        Case{"SharedSlot", samples::microbatches, [](Program& p) { p.residences[2].stride_bytes = 320; },
             "residence 3 'y' and residence 2 'x' share bytes in host while both live"},
        Case{"Arena", samples::microbatches, [](Program& p) { p.arena_bytes[1] = 1471; },
             "residence 5 'scratch' ends at 1472, beyond the host arena of 1471 bytes"},
        Case{"Lifetime", samples::single_segment, [](Program& p) { p.residences[2].last = {0, 5}; },
             "segment 0 'step' instruction 5 'w.update' operand 1 'y' is outside the lifetime of residence 2"},
        Case{"WorkspaceSize", samples::microbatches, [](Program& p) { p.kernels[1].workspace_bytes = 129; },
             "operand 3 'scratch' has 128 bytes of workspace; its kernel needs 129"},
        Case{"WorkspaceAlignment", samples::single_segment,
             [](Program& p) { p.residences[3].offset_bytes += 32; p.arena_bytes[1] += 32; },
             "instruction 1 'fc' operand 3 'fc.workspace' is not aligned to 64 bytes"},
        Case{"NoWorkspace", samples::single_segment, [](Program& p) { step(p, 0, 1).operands.pop_back(); },
             "instruction 1 'fc' has no workspace; its kernel needs 256 bytes"},
        Case{"TensorSize", samples::single_segment, [](Program& p) { step(p, 0, 1).operands[1].begin_bytes = 252; },
             "instruction 1 'fc' operand 1 'w' has 260 bytes; expected 256"},
        Case{"TensorAlignment", samples::single_segment, [](Program& p) { p.residences[2].offset_bytes = 770; p.residences[3].offset_bytes = 1088; p.arena_bytes[1] = 2000; },
             "operand 2 'y' is not aligned to 4 bytes"},
        Case{"OverlappingOperands", samples::single_segment,
             [](Program& p) { step(p, 0, 5).operands[1] = samples::read(0, 0, 256, 0); },
             "instruction 5 'w.update' operand 2 'w' shares bytes with operand 1, and one of them is written"},
        Case{"StaleVersion", samples::single_segment, [](Program& p) { step(p, 0, 3).operands[0].version = 1; },
             "instruction 3 'loss' operand 0 'y' reads version 1 of bytes [0,256) in iteration 0, where there is version 2"},
        Case{"UnwrittenInput", samples::single_segment, [](Program& p) { step(p, 0, 0).when = When::kNotFirst; },
             "operand 0 'x' reads version 1 of bytes [0,256) in iteration 0, where there is nothing"},
        Case{"ContentOfAnotherMicrobatch", samples::microbatches, [](Program& p) { step(p, 1, 1).when = When::kFirst; p.residences[3].first = {1, 0}; p.residences[3].last = {2, 0}; },
             "operand 1 'y' reads version 1 of bytes [0,256) in iteration 1, where there is version 1 made in iteration 0"},
        Case{"InputFedOnceForAll", samples::microbatches, [](Program& p) { step(p, 1, 0).when = When::kFirst; p.residences[2].slots = 1; },
             "operand 0 'x' reads version 1 of bytes [0,256) in iteration 1, where there is version 1 made in iteration 0"},
        Case{"AccumulatorThatDoesNotCoverTheLoop", samples::microbatches, [](Program& p) { p.residences[4].first = {1, 1}; },
             "operand 2 'dw' adds into version 2 of bytes [0,256) in iteration 1, where there is nothing"},
        Case{"AccumulatorThatEndsInTheLoop", samples::microbatches, [](Program& p) { p.outputs.clear(); step(p, 1, 4).when = When::kLast; p.residences[4].first = {0, 0}; p.residences[4].last = {1, 5}; p.segments[2].instructions.clear(); p.residences[6].last = {1, 5}; p.residences[6].first = {1, 5}; p.residences[4].last = {1, 4}; step(p, 1, 4).operands[1] = samples::read(3, 0, 256, 1); p.residences[3].last = {1, 5}; p.residences[0].last = {2, 0}; },
             "operand 2 'dw' adds into version 2 of bytes [0,256) in iteration 1, where there is nothing"},
        Case{"OverwritingKernelInLaterIterations", samples::microbatches, [](Program& p) { p.kernels[1].accumulated_dsts.clear(); },
             "operand 2 'dw' must add in later iterations, but its kernel overwrites"},
        Case{"SecondAdderThatStartsAnew", samples::microbatches, [](Program& p) { step(p, 1, 3).operands[1].role = Role::kAccumulate; },
             "instruction 3 'head.grad' operand 1 'dw' adds into version 1 of bytes [0,256) in iteration 1"},
        Case{"UpdateBeforeTheLastMicrobatch", samples::microbatches, [](Program& p) { step(p, 1, 4).when = When::kAlways; },
             "operand 1 'w' reads version 0 of bytes [0,256) in iteration 1, where there is version 1"},
        Case{"RecomputationFromTheUpdatedWeight", offloaded,
             [](Program& p) { std::swap(step(p, 0, 3), step(p, 0, 4)); p.residences[2].last = {0, 5}; p.residences[4].first = {0, 4};
                              p.residences[4].offset_bytes = 192; p.arena_bytes[0] = 256;
                              step(p, 0, 3).operands[1].residence = 2; step(p, 0, 4).operands[1].version = 1; },
             "instruction 4 'h' makes version 1 of 'h' from version 1 of 'w' bytes [0,64); segment 0 instruction 1 makes it from version 0 of 'w' bytes [0,64)"},
        Case{"RecomputationByAnotherOp", recomputed, [](Program& p) { p.kernels.push_back(p.kernels[0]); p.kernels[3].op = "q"; step(p, 0, 5).kernel = 3; },
             "instruction 5 'h' makes version 1 of 'h' by q{axis=0}; segment 0 instruction 1 makes it by f{axis=0}"},
        Case{"RecomputationWithOtherAttributes", recomputed, [](Program& p) { p.kernels.push_back(p.kernels[0]); p.kernels[3].attributes.set("axis", int64_t{1}); step(p, 0, 5).kernel = 3; },
             "instruction 5 'h' makes version 1 of 'h' by f{axis=1}; segment 0 instruction 1 makes it by f{axis=0}"},
        Case{"RecomputationInAnotherShape", recomputed, [](Program& p) { p.kernels.push_back(p.kernels[0]); p.kernels[3].dsts[0].shape = {4, 4}; step(p, 0, 5).kernel = 3; },
             "instruction 5 'h' makes version 1 of 'h' by f{axis=0}; segment 0 instruction 1 makes it by f{axis=0}"},
        Case{"RecomputationFromOtherBytes", recomputed, [](Program& p) { step(p, 0, 5).operands[1] = samples::read(0, 64, 128, 0); },
             "instruction 5 'h' makes version 1 of 'h' from version 0 of 'w' bytes [64,128); segment 0 instruction 1 makes it from version 0 of 'w' bytes [0,64)"},
        Case{"RecomputationFromAnotherBuffer", recomputed, [](Program& p) { step(p, 0, 5).operands[1] = samples::read(4, 0, 64, 1); },
             "instruction 5 'h' makes version 1 of 'h' from version 1 of 'y' bytes [0,64); segment 0 instruction 1 makes it from version 0 of 'w' bytes [0,64)"},
        Case{"RecomputedSumFromAnotherBuffer", recomputed, [](Program& p) { step(p, 0, 6).operands[0] = samples::read(4, 0, 64, 1); },
             "instruction 6 'h' makes version 2 of 'h' from version 1 of 'y' bytes [0,64); segment 0 instruction 2 makes it from version 1 of 'x' bytes [0,64)"},
        Case{"RecomputedSumThatStartsFromAnother", recomputed, [](Program& p) { step(p, 0, 6) = step(p, 0, 5); step(p, 0, 6).operands[2].version = 2; },
             "instruction 6 'h' makes version 2 of 'h' from 2 sources; segment 0 instruction 2 makes it from 3 sources"},
        Case{"RecomputationAsTheOtherDestination", recomputed,
             [](Program& p) { for (program::Kernel& k : p.kernels) if (k.op == "f") k.dsts.push_back(k.dsts[0]);
                              p.buffers.push_back({"spare", 64}); p.arena_bytes[1] = 448;
                              p.residences.push_back({.buffer = 4, .end_bytes = 64, .offset_bytes = 384, .first = {0, 0}, .last = {0, 8}});
                              for (int i : {1, 2, 5, 6}) step(p, 0, i).operands.push_back(samples::write(5, 0, 64, i));
                              std::swap(step(p, 0, 5).operands[2], step(p, 0, 5).operands[3]); },
             "instruction 5 'h' makes version 1 of 'h' by f{axis=0}; segment 0 instruction 1 makes it by f{axis=0}"},
        Case{"AnotherInputForTheSameVersion", recomputed, [](Program& p) { step(p, 0, 4).label = "z"; },
             "instruction 4 'z' makes version 1 of 'x' by feed 'z'; segment 0 instruction 0 makes it by feed 'x'"},
        Case{"ZeroesForTheSameVersion", recomputed, [](Program& p) { step(p, 0, 4).kind = program::Kind::kZero; },
             "instruction 4 'x' makes version 1 of 'x' by zero 'x'; segment 0 instruction 0 makes it by feed 'x'"},
        Case{"AdditionBesideAnotherWriter", samples::microbatches, [](Program& p) { Instruction other = step(p, 1, 2); other.operands[2] = samples::write(4, 0, 256, 1); p.kernels.push_back(p.kernels[1]); p.kernels[5].accumulated_dsts.clear(); other.kernel = 5; step(p, 1, 3) = other; p.residences[5].last = {1, 4}; },
             "instruction 3 'fc.grad' makes version 1 of 'dw' as write; segment 1 instruction 2 makes it as accumulate"},
        Case{"InPlaceWhereTheKernelIsNot", samples::single_segment, [](Program& p) { step(p, 0, 1).operands[2] = samples::write(1, 0, 256, 2); },
             "instruction 1 'fc' operand 2 'x' is written over operand 0, which kernel 'matmul' does not do in place"},
        Case{"InPlaceOverTheOtherSource", samples::microbatches, [](Program& p) { p.kernels[3].in_place = {{0, 1}}; },
             "instruction 4 'w.update' operand 3 'w' is written over operand 0, which kernel 'sgd' does not do in place"},
        Case{"OutputOfAnotherVersion", samples::microbatches, [](Program& p) { p.outputs[1].version = 1; },
             "output 'half of dw' is version 1 of 'dw'; bytes [128,256) at the end: there is version 2"},
        Case{"OutputThatIsFreed", samples::single_segment, [](Program& p) { p.residences[4].last = {0, 5}; },
             "output 'loss' in residence 4 'loss' does not live to the end of the program"},
        Case{"OutputThatIsOverwritten", samples::single_segment, [](Program& p) { step(p, 0, 5) = step(p, 0, 3); step(p, 0, 5).operands[1].version = 2; p.exit_state = {{0, 0}}; },
             "output 'loss' is version 1 of 'loss'; bytes [0,4) at the end: there is version 2"},
        Case{"OutputThatIsIncomplete", samples::single_segment, [](Program& p) { p.buffers[4].size_bytes = p.residences[4].end_bytes = p.outputs[0].end_bytes = 8; },
             "output 'loss' is version 1 of 'loss'; bytes [4,8) at the end: there is nothing"},
        Case{"OutputOfTheLastMicrobatchAlone", samples::microbatches, [](Program& p) { p.outputs = {{"y", 3, 0, 256, 1}}; p.residences[3].first = {1, 0}; p.residences[3].last = {2, 1}; p.residences[6].offset_bytes = 1472; p.arena_bytes[1] = 1536; },
             "output 'y' is version 1 of 'y'; bytes [0,256) at the end: there is version 1 of the last iteration of an earlier loop"},
        Case{"OutputInSlots", samples::microbatches, [](Program& p) { p.outputs = {{"x", 2, 0, 256, 1}}; p.residences[2].last = {2, 1}; },
             "output 'x' in residence 2 'x' has several slots; an output has one"},
        Case{"MissingWait", samples::microbatches, [](Program& p) { step(p, 1, 1).waits.clear(); },
             "instruction 1 'fc' operand 0 'x' on lane compute reads bytes of instruction 0 'x' on lane host_to_device, and no wait orders them"},
        Case{"MissingWaitForTheSlot", samples::microbatches, [](Program& p) { step(p, 1, 0).waits.clear(); },
             "operand 0 'x' on lane host_to_device writes bytes of instruction 2 'fc.grad' on lane compute of 2 iterations before"},
        Case{"OneSlotWhereTwoAreNeeded", samples::microbatches, [](Program& p) { p.residences[2].slots = 1; },
             "operand 0 'x' on lane host_to_device writes bytes of instruction 2 'fc.grad' on lane compute of the previous iteration"},
        Case{"WaitForwards", samples::microbatches, [](Program& p) { step(p, 1, 0).waits[0].of_previous_iteration = false; },
             "instruction 0 'x' waits for compute 0, which is instruction 1 and comes no earlier in the list"},
        Case{"EvictionBeforeTheCopyIsOver", offloaded, [](Program& p) { step(p, 0, 3).waits.clear(); },
             "operand 2 'h' on lane compute writes bytes of instruction 2 '' on lane device_to_host"},
        Case{"CopyToAnotherVersion", offloaded, [](Program& p) { step(p, 0, 2).operands[1].version = 2; },
             "operand 1 'h' makes version 2 by copying version 1"},
        Case{"DiskReadOfMemory", samples::streamed, [](Program& p) { step(p, 2, 0).operands[0].residence = 1; step(p, 2, 0).operands[1].residence = 0; },
             "operand 0 'w' is not on disk, which 'read' cannot have here"},
        Case{"ExitVersion", samples::streamed, [](Program& p) { step(p, 2, 5).when = When::kNotFirst; },
             "exit state promises version 1 of 'w' in residence 0; bytes [128,256) hold version 0"},
        Case{"ExitResidence", samples::streamed, [](Program& p) { p.exit_state[0].residence = 2; },
             "exit state names residence 2, which is not in the entry state"},
        Case{"LostState", samples::streamed, [](Program& p) { p.exit_state.clear(); },
             "exit state has 0 of the 1 residences of the entry state; missing is residence 0"},
        Case{"StateThatComesLate", samples::single_segment, [](Program& p) { p.residences[0].first = {0, 1}; },
             "entry state residence 0 'w' does not live from the start of the program to its end"},
        Case{"StorageOfAnotherMicrobatch", samples::streamed, [](Program& p) { p.residences[4].slots = 2; },
             "instruction 0 'g' operand 0 'h' reads version 1 of bytes [0,128) in iteration 0, where there is version 1 made in iteration 2"}),
    [](const auto& param_info) { return param_info.param.name; });

/// A chain of `count` kernels over two lanes, with weights that stay and activations that share 64 addresses.
Program long_chain(int count, int64_t trips) {
  using samples::compute, samples::read, samples::write;
  Program p;
  p.kernels = {{"f", {}, {samples::f32(16), samples::f32(16)}, {samples::f32(16)}, {}, 0}};
  p.segments = {{"step", trips, {}}};
  const program::Point end{1, 0};
  for (int i = 0; i <= count; ++i) {
    p.buffers.push_back({"h" + std::to_string(i), 64});
    p.residences.push_back({.buffer = i,
                            .end_bytes = 64,
                            .offset_bytes = i % 64 * 64,
                            .first = {0, i},
                            .last = {0, std::min(i + 2, count + 1)}});
  }
  p.buffers.push_back({"w", 64, Category::kParameters});
  p.residences.push_back({.buffer = count + 1, .end_bytes = 64, .offset_bytes = 64 * 64, .first = {0, 0}, .last = end});
  p.segments[0].instructions.push_back(samples::feed("x", write(0, 0, 64, 1)));
  for (int i = 0; i < count; ++i) {
    Instruction next = compute(0, "f", {read(i, 0, 64, 1), read(count + 1, 0, 64, 0), write(i + 1, 0, 64, 1)});
    next.lane = i % 2 == 0 ? Lane::kHostCompute : Lane::kCompute;
    // Lane compute has the feed first: instruction i + 1 of the list is number (i + 1) / 2 of its lane.
    next.waits = {{i % 2 == 0 ? Lane::kCompute : Lane::kHostCompute, i / 2, false}};
    p.segments[0].instructions.push_back(next);
  }
  if (trips > 1) p.segments[0].instructions[0].waits = {{Lane::kHostCompute, (count - 1) / 2, true}};
  p.entry_state = p.exit_state = {{count + 1, 0}};
  p.arena_bytes[1] = 65 * 64;
  return p;
}

TEST(CheckProgram, TakesALargeProgramInItsStride) { EXPECT_EQ(refusal_of(long_chain(9999, 1 << 20)), "accepted"); }

}  // namespace
}  // namespace plimsoll::plan
