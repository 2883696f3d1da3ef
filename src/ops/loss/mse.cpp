// mse: mean squared difference over all elements.
#include <algorithm>

#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"
#include "ops/workspace.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("mse", "prediction", call.srcs[0], DType::kF32));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("mse", "target", call.srcs[1], call.srcs[0]));
  return std::vector<TensorDesc>{{DType::kF32, {}, {}}};
}

Cost cost(const OpCall& call) { return {.flops = 3 * call.srcs[0].numel(), .bytes = moved_bytes(call)}; }

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  double sum = 0;
  for (int64_t i = 0; i < srcs[0].numel(); ++i) sum += (srcs[0][i] - srcs[1][i]) * (srcs[0][i] - srcs[1][i]);
  dsts[0][0] = sum / static_cast<double>(std::max<int64_t>(srcs[0].numel(), 1));
}

/// d_prediction = d_loss · 2 (prediction - target) / n = -d_target.
void gradient(GradientContext& c) {
  const auto n = static_cast<double>(std::max<int64_t>(c.src_desc(0).numel(), 1));
  const graph::ValueId factor = c.add("multiply", {c.d_dst(0), c.constant(2 / n, DType::kF32)});
  const graph::ValueId d = c.add("multiply", {c.add("subtract", {c.src(0), c.src(1)}), factor});
  if (c.wants(0)) c.set_d_src(0, d);
  if (c.wants(1)) c.set_d_src(1, c.add("neg", {d}));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{17, 3}})
    out.push_back({.srcs = {f32_src(shape), f32_src(shape)}});
  for (const Shape& shape : {Shape{1025}, Shape{3, 1025}, Shape{0}})
    out.push_back({.srcs = {f32_src(shape), f32_src(shape)}, .has_gradient = false});
  return out;
}

}  // namespace

void define_mse(OpTable& table) {
  table.add({.name = "mse",
             .doc = "loss = mean of (prediction - target)^2 over all elements; 0 where there are none",
             .srcs = {"prediction", "target"},
             .dsts = {"loss"},
             .infer = infer,
             .gradient = gradient,
             .cost = cost,
             .workspace_bound = [](const OpCall& call) { return partial_sum_bytes(call.srcs[0].numel()); },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
