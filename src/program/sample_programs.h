#pragma once

#include <string>
#include <utility>

#include "program/program.h"

/// Small valid programs, made by hand, for tests of everything that reads programs.
namespace plimsoll::program::samples {

inline TensorDesc f32(int64_t numel) { return {DType::kF32, Shape{numel}, {}}; }

inline Operand read(int residence, int64_t begin, int64_t end, int version) {
  return {residence, begin, end, version, Role::kRead};
}
inline Operand write(int residence, int64_t begin, int64_t end, int version) {
  return {residence, begin, end, version, Role::kWrite};
}
inline Operand update(int residence, int64_t begin, int64_t end, int version) {
  return {residence, begin, end, version, Role::kUpdate};
}
inline Operand accumulate(int residence, int64_t begin, int64_t end, int version) {
  return {residence, begin, end, version, Role::kAccumulate};
}
inline Operand workspace(int residence, int64_t begin, int64_t end) {
  return {residence, begin, end, 0, Role::kWorkspace};
}

inline Instruction compute(int kernel, std::string label, std::vector<Operand> operands) {
  return {.kernel = kernel, .operands = std::move(operands), .label = std::move(label)};
}
inline Instruction feed(std::string label, Operand operand) {
  return {.kind = Kind::kFeed, .operands = {operand}, .label = std::move(label)};
}

/// One segment that runs once: y = f(x, w) with workspace, y2 = g(y) in place, w updated from y2; the loss is checked.
/// Byte ranges: w is one state buffer whose second half is read as a view.
inline Program single_segment() {
  Program p;
  p.name = "single";
  p.compile_hash = "0123abcd";
  p.kernels = {{"matmul", {{"transpose_a", false}}, {f32(64), f32(64)}, {f32(64)}, {}, 256},
               {"relu", {}, {f32(64)}, {f32(64)}, {}, 0, {{0, 0}}},
               {"reduce_sum", {{"axes", std::vector<int64_t>{}}}, {f32(64)}, {f32(1)}, {}, 0},
               {"sgd", {{"momentum", 0.5}}, {f32(128), f32(64)}, {f32(128)}, {}, 0, {{0, 0}}}};
  p.buffers = {{"w", 512, Category::kParameters, "w"},
               {"x", 256, Category::kInput, "x"},
               {"y", 256, Category::kActivations, "fc"},
               {"fc.workspace", 256, Category::kWorkspace, "fc"},
               {"loss", 4, Category::kActivations, "loss"}};
  p.residences = {{.buffer = 0, .end_bytes = 512, .offset_bytes = 0, .first = {0, 0}, .last = {0, 6}},
                  {.buffer = 1, .end_bytes = 256, .offset_bytes = 512, .first = {0, 0}, .last = {0, 2}},
                  {.buffer = 2, .end_bytes = 256, .offset_bytes = 768, .first = {0, 1}, .last = {0, 6}},
                  {.buffer = 3, .end_bytes = 256, .offset_bytes = 1024, .first = {0, 1}, .last = {0, 2}},
                  // x is dead: the loss takes its place.
                  {.buffer = 4, .end_bytes = 4, .offset_bytes = 512, .first = {0, 3}, .last = {0, 6}}};
  Instruction check{.kind = Kind::kCheck, .operands = {read(4, 0, 4, 1)}, .label = "loss"};
  check.reason = "a loss that is not finite must change nothing";
  p.segments = {
      {"step",
       1,
       {feed("x", write(1, 0, 256, 1)),
        compute(0, "fc", {read(1, 0, 256, 1), read(0, 256, 512, 0), write(2, 0, 256, 1), workspace(3, 0, 256)}),
        compute(1, "relu", {read(2, 0, 256, 1), write(2, 0, 256, 2)}),
        compute(2, "loss", {read(2, 0, 256, 2), write(4, 0, 4, 1)}), check,
        compute(3, "w.update", {read(0, 0, 512, 0), read(2, 0, 256, 2), update(0, 0, 512, 1)})}}};
  p.entry_state = {{0, 0}};
  p.exit_state = {{0, 1}};
  p.outputs = {{"loss", 4, 0, 4, 1}};
  p.arena_bytes[static_cast<size_t>(Space::kHost)] = 1280;
  return p;
}

/// Three segments: step scalars; four microbatches whose input comes in two slots over its own lane, whose gradient
/// adds up twice an iteration (as tied weights do) and whose update is fused into the last one; a norm of the outcome.
inline Program microbatches() {
  Program p;
  p.name = "microbatches";
  p.kernels = {{"matmul", {}, {f32(64), f32(64)}, {f32(64)}, {}, 0},
               {"matmul_grad", {}, {f32(64), f32(64)}, {f32(64)}, {0}, 128},
               {"tied_grad", {}, {f32(64)}, {f32(64)}, {0}, 0},
               {"sgd", {}, {f32(64), f32(64), f32(1)}, {f32(64)}, {}, 0, {{0, 0}}},
               {"sum_of_squares", {}, {f32(64)}, {f32(1)}, {}, 0}};
  p.buffers = {{"w", 256, Category::kParameters, "w"},  {"lr", 4, Category::kRuntime, "lr"},
               {"x", 256, Category::kInput, "x"},       {"y", 256, Category::kActivations, "fc"},
               {"dw", 256, Category::kGradients, "dw"}, {"scratch", 128, Category::kWorkspace, ""},
               {"norm", 4, Category::kActivations, ""}};
  const Point end{2, 1};
  p.residences = {{.buffer = 0, .end_bytes = 256, .offset_bytes = 0, .first = {0, 0}, .last = end},
                  {.buffer = 1, .end_bytes = 4, .offset_bytes = 256, .first = {0, 0}, .last = {2, 0}},
                  {.buffer = 2,
                   .end_bytes = 256,
                   .offset_bytes = 320,
                   .slots = 2,
                   .stride_bytes = 256,
                   .first = {1, 0},
                   .last = {2, 0}},
                  {.buffer = 3, .end_bytes = 256, .offset_bytes = 832, .first = {1, 1}, .last = {1, 4}},
                  {.buffer = 4, .end_bytes = 256, .offset_bytes = 1088, .first = {1, 0}, .last = {2, 1}},
                  {.buffer = 5, .end_bytes = 128, .offset_bytes = 1344, .first = {1, 2}, .last = {1, 3}},
                  {.buffer = 6, .end_bytes = 4, .offset_bytes = 832, .first = {2, 0}, .last = {2, 1}}};
  Instruction input = feed("x", write(2, 0, 256, 1));
  input.lane = Lane::kHostToDevice;
  // Compute 0 of the previous iteration has started after all of the one before it, which had this slot.
  input.waits = {{Lane::kCompute, 0, true}};
  Instruction forward = compute(0, "fc", {read(2, 0, 256, 1), read(0, 0, 256, 0), write(3, 0, 256, 1)});
  forward.waits = {{Lane::kHostToDevice, 0, false}};
  Instruction sgd =
      compute(3, "w.update", {read(0, 0, 256, 0), read(4, 0, 256, 2), read(1, 0, 4, 1), update(0, 0, 256, 1)});
  sgd.when = When::kLast;
  p.segments = {
      {"scalars", 1, {feed("lr", write(1, 0, 4, 1))}},
      {"microbatch",
       4,
       {input, forward,
        compute(1, "fc.grad", {read(2, 0, 256, 1), read(3, 0, 256, 1), accumulate(4, 0, 256, 1), workspace(5, 0, 128)}),
        compute(2, "head.grad", {read(3, 0, 256, 1), update(4, 0, 256, 2)}), sgd}},
      {"norm", 1, {compute(4, "norm", {read(4, 0, 256, 2), write(6, 0, 4, 1)})}}};
  p.entry_state = {{0, 0}};
  p.exit_state = {{0, 1}};
  p.outputs = {{"norm", 6, 0, 4, 1}, {"half of dw", 4, 128, 256, 2}};
  p.arena_bytes[static_cast<size_t>(Space::kHost)] = 1472;
  return p;
}

/// A parameter on disk that is read in two tiles, updated in memory and written back, over disk lanes; and activations
/// of three microbatches that stay in one slot each between two segments.
inline Program streamed() {
  Program p;
  p.name = "streamed";
  p.kernels = {{"scale", {{"factor", 0.5}}, {f32(32)}, {f32(32)}, {}, 0},
               {"add", {}, {f32(32), f32(32)}, {f32(32)}, {}, 0},
               {"sgd", {}, {f32(32), f32(32)}, {f32(32)}, {}, 0, {{0, 0}}}};
  p.buffers = {{"w", 256, Category::kParameters, "w"},
               {"x", 128, Category::kInput, ""},
               {"h", 128, Category::kActivations, ""},
               {"g", 128, Category::kGradients, ""}};
  const Point end{2, 6};
  p.residences = {
      {.buffer = 0, .end_bytes = 256, .space = Space::kDisk, .offset_bytes = 0, .first = {0, 0}, .last = end},
      {.buffer = 0, .begin_bytes = 0, .end_bytes = 128, .offset_bytes = 0, .first = {2, 0}, .last = {2, 3}},
      {.buffer = 0, .begin_bytes = 128, .end_bytes = 256, .offset_bytes = 128, .first = {2, 0}, .last = end},
      {.buffer = 1, .end_bytes = 128, .offset_bytes = 0, .first = {0, 0}, .last = {0, 2}},
      {.buffer = 2,
       .end_bytes = 128,
       .offset_bytes = 256,
       .slots = 3,
       .stride_bytes = 128,
       .first = {0, 0},
       .last = {2, 0}},
      {.buffer = 3, .end_bytes = 128, .offset_bytes = 640, .first = {1, 0}, .last = end}};
  Instruction gradient_first = compute(0, "g", {read(4, 0, 128, 1), accumulate(5, 0, 128, 1)});
  gradient_first.when = When::kFirst;
  p.kernels.push_back({"scale", {{"factor", 0.5}}, {f32(32)}, {f32(32)}, {0}, 0});
  Instruction gradient = compute(3, "g", {read(4, 0, 128, 1), accumulate(5, 0, 128, 1)});
  gradient.when = When::kNotFirst;
  const auto disk = [](Kind kind, Lane lane, Operand from, Operand to) {
    return Instruction{.lane = lane, .kind = kind, .operands = {from, to}};
  };
  Instruction read0 = disk(Kind::kRead, Lane::kDiskRead, read(0, 0, 128, 0), write(1, 0, 128, 0));
  Instruction read1 = disk(Kind::kRead, Lane::kDiskRead, read(0, 128, 256, 0), write(2, 128, 256, 0));
  Instruction sgd0 = compute(2, "w.0", {read(1, 0, 128, 0), read(5, 0, 128, 1), update(1, 0, 128, 1)});
  sgd0.waits = {{Lane::kDiskRead, 0, false}};
  Instruction write0 = disk(Kind::kWrite, Lane::kDiskWrite, read(1, 0, 128, 1), write(0, 0, 128, 1));
  write0.waits = {{Lane::kCompute, 0, false}};
  Instruction sgd1 = compute(2, "w.1", {read(2, 128, 256, 0), read(5, 0, 128, 1), update(2, 128, 256, 1)});
  sgd1.waits = {{Lane::kDiskRead, 1, false}};
  Instruction write1 = disk(Kind::kWrite, Lane::kDiskWrite, read(2, 128, 256, 1), write(0, 128, 256, 1));
  write1.waits = {{Lane::kCompute, 1, false}};
  p.residences[1].last = {2, 4};
  p.segments = {
      {"forward", 3, {feed("x", write(3, 0, 128, 1)), compute(0, "h", {read(3, 0, 128, 1), write(4, 0, 128, 1)})}},
      {"backward", 3, {gradient_first, gradient}},
      {"update", 1, {read0, read1, sgd0, write0, sgd1, write1}}};
  p.entry_state = {{0, 0}};
  p.exit_state = {{0, 1}};
  p.arena_bytes[static_cast<size_t>(Space::kHost)] = 768;
  p.arena_bytes[static_cast<size_t>(Space::kDisk)] = 256;
  return p;
}

}  // namespace plimsoll::program::samples
