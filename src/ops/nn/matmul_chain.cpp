// matmul_chain: a matrix product whose elements go through elementwise steps before they are written.
#include "ops/chain.h"
#include "ops/expect.h"
#include "ops/nn/matmul.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

OpCall product_of(const OpCall& call, const Chain& chain) {
  return {call.srcs.first(matmul_chain_operands(call.srcs.size(), chain)), call.dsts.first(call.dsts.empty() ? 0 : 1),
          call.attributes};
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const std::string op = "matmul_chain";
  PLIMSOLL_ASSIGN(const Chain chain, try_parse_chain(op, call.attributes.get_string("chain")));
  const size_t operands = matmul_chain_operands(call.srcs.size(), chain);
  if (operands != 2 && operands != 3)
    return invalid_argument("[" + op + "] chain reads " + std::to_string(chain.src_count()) +
                            " further inputs; given " + std::to_string(call.srcs.size()) +
                            " in all, expected so many behind a, b and perhaps bias");
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, "a", call.srcs[0], DType::kF32));
  PLIMSOLL_ASSIGN(const auto product, in_the_name_of(op, matmul_def().infer(product_of(call, chain))));
  PLIMSOLL_RETURN_IF_ERROR(check_chain(op, chain, product[0], call.srcs.subspan(operands)));
  return std::vector<TensorDesc>(1 + chain.kept_count(), product[0]);
}

Cost cost(const OpCall& call) {
  const Chain chain = chain_of(call.attributes);
  const OpCall product = product_of(call, chain);
  return {.flops = matmul_def().cost(product).flops +
                   chain_flops(chain, call.dsts[0], call.srcs.subspan(product.srcs.size())),
          .bytes = moved_bytes(call)};
}

int64_t workspace_bound(const OpCall& call) {
  return matmul_def().workspace_bound(product_of(call, chain_of(call.attributes)));
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const Chain chain = chain_of(attributes);
  const size_t operands = matmul_chain_operands(srcs.size(), chain);
  matmul_def().evaluate(srcs.first(operands), dsts.first(1), attributes);
  evaluate_chain(chain, dsts[0], srcs.subspan(operands), dsts.subspan(1));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::string& chain, std::vector<SampleSrc> srcs, bool ta = false, bool tb = false) {
    out.push_back({.srcs = std::move(srcs),
                   .attributes = {{"chain", chain}, {"transpose_a", ta}, {"transpose_b", tb}},
                   .has_gradient = false});
  };
  const std::string drop_and_add = "dropout(_, s0, s1, s2) {p=0.25, path=\"h.0\"} | add(s3, _)";
  const SampleSrc seed = scalar_src(DType::kI64, 1234), step = scalar_src(DType::kI64, 3);
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{7, 5, 3}, {1, 17, 1}, {3, 8, 1025}, {49, 1025, 193}}) {
    const SampleSrc a = f32_src({m, k}, -0.5, 0.5), b = f32_src({k, n}, -0.5, 0.5), full = f32_src({m, n});
    add("keep | gelu(_) {approximate=\"tanh\"}", {a, b, f32_src({n})});
    add("gelu_grad(s0, _)", {a, f32_src({n, k}, -0.5, 0.5), full}, false, true);
    add(drop_and_add, {a, b, f32_src({n}), seed, step, scalar_src(DType::kI64, 2), full});
    add("relu(_) | keep | multiply(_, s0) | keep", {f32_src({k, m}, -0.5, 0.5), b, f32_src({n})}, true);
  }
  add("add(_, s0)", {f32_src({4, 3, 5}), f32_src({5, 6}), f32_src({6}), f32_src({4, 3, 6})});
  add("add(_, s0) | tanh(_)", {f32_src({2, 3, 4, 5}), f32_src({3, 5, 6}), f32_src({2, 3, 4, 6})});
  add("keep | relu(_)", {f32_src({0, 5}), f32_src({5, 3})});
  add("keep | exp(_)", {f32_src({4, 0}), f32_src({0, 3})});
  return out;
}

}  // namespace

size_t matmul_chain_operands(size_t srcs, const Chain& chain) {
  return srcs < chain.src_count() ? 0 : srcs - chain.src_count();
}

void define_matmul_chain(OpTable& table) {
  table.add({.name = "matmul_chain",
             .doc = "matmul, then the steps of `chain` (see elementwise_chain) on each element before it is written: "
                    "activation, residual add, gradient of an activation. What `fuse_matmul_epilogue` makes",
             .srcs = {"a", "b", "bias", "srcs"},
             .dsts = {"dst", "kept"},
             .optional_srcs = 2,
             .is_variadic = true,
             .attributes = {{.name = "transpose_a", .default_value = false},
                            {.name = "transpose_b", .default_value = false},
                            {.name = "chain", .doc = "steps", .example = std::string("keep | gelu(_)")}},
             .infer = infer,
             .cost = cost,
             .workspace_bound = workspace_bound,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
