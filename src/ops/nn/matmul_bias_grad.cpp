// matmul_bias_grad: the gradients of a linear layer's weight and bias in one pass over the gradient of its output.
#include "ops/expect.h"
#include "ops/nn/matmul.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

const Attributes kTransposeA{{"transpose_a", true}, {"transpose_b", false}};

OpCall product_of(const OpCall& call) { return {call.srcs, call.dsts.first(call.dsts.empty() ? 0 : 1), kTransposeA}; }

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_axes("matmul_bias_grad", "x", call.srcs[0], DType::kF32, 2, "[R,K]"));
  PLIMSOLL_RETURN_IF_ERROR(expect_axes("matmul_bias_grad", "d_y", call.srcs[1], DType::kF32, 2, "[R,N]"));
  PLIMSOLL_ASSIGN(auto dsts, in_the_name_of("matmul_bias_grad", matmul_def().infer(product_of(call))));
  dsts.push_back({DType::kF32, {call.srcs[1].shape[1]}, {}});
  return dsts;
}

Cost cost(const OpCall& call) {
  return {.flops = matmul_def().cost(product_of(call)).flops + call.srcs[1].numel(), .bytes = moved_bytes(call)};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  matmul_def().evaluate(srcs, dsts.first(1), kTransposeA);
  const int64_t n = dsts[1].numel();
  for (int64_t i = 0; i < srcs[1].numel(); ++i) dsts[1][i % n] += srcs[1][i];
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](int64_t rows, int64_t k, int64_t n) {
    out.push_back({.srcs = {f32_src({rows, k}, -0.5, 0.5), f32_src({rows, n}, -0.5, 0.5)}, .has_gradient = false});
  };
  add(1, 1, 1);
  add(5, 7, 3);
  add(17, 3, 1025);
  add(1025, 49, 193);
  add(70, 1025, 17);
  add(0, 3, 5);
  add(4, 0, 5);
  add(4, 3, 0);
  return out;
}

}  // namespace

void define_matmul_bias_grad(OpTable& table) {
  table.add({.name = "matmul_bias_grad",
             .doc = "d_weight = xᵀ · d_y and d_bias = the sum of d_y's rows. What `fuse_bias_gradient` makes",
             .srcs = {"x", "d_y"},
             .dsts = {"d_weight", "d_bias"},
             .infer = infer,
             .cost = cost,
             .workspace_bound = [](const OpCall& call) { return matmul_def().workspace_bound(product_of(call)); },
             .accumulating_dsts = {0, 1},
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
