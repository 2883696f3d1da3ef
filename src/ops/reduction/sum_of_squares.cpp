// sum_of_squares: of all elements; what a global norm is made from.
#include "ops/elementwise/unary.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"
#include "ops/workspace.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating("sum_of_squares", "src", call.srcs[0]));
  return std::vector<TensorDesc>{{DType::kF32, {}, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  for (const double x : srcs[0].data) dsts[0][0] += x * x;
}

/// 2 · d · src.
void gradient(GradientContext& c) {
  const DType dtype = c.src_desc(0).dtype;
  auto d = c.add("multiply", {c.d_dst(0), c.constant(2, DType::kF32)});
  if (dtype != DType::kF32) d = c.add("cast", {d}, {{"dtype", std::string(to_string(dtype))}});
  c.set_d_src(0, c.add("multiply", {c.src(0), d}));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : elementwise_shapes())
    out.push_back({.srcs = {f32_src(shape)}, .has_gradient = shape.numel() <= kMaxGradientNumel});
  out.push_back({.srcs = {f32_src({17, 1025})}, .has_gradient = false});
  return out;
}

}  // namespace

void define_sum_of_squares(OpTable& table) {
  table.add(
      {.name = "sum_of_squares",
       .doc = "the sum of the squares of all elements, in f32",
       .srcs = {"src"},
       .dsts = {"dst"},
       .infer = infer,
       .gradient = gradient,
       .cost = [](const OpCall& call) { return Cost{.flops = 2 * call.srcs[0].numel(), .bytes = moved_bytes(call)}; },
       .workspace_bound = [](const OpCall& call) { return partial_sum_bytes(call.srcs[0].numel()); },
       .evaluate = evaluate,
       .samples = samples});
}

}  // namespace plimsoll::ops
