// elementwise_chain: several elementwise ops one after the other, in one pass over memory.
#include <algorithm>

#include "ops/broadcast.h"
#include "ops/chain.h"
#include "ops/elementwise/unary.h"
#include "ops/expect.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const std::string op = "elementwise_chain";
  const TensorDesc& x = call.srcs[0];
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, "x", x, DType::kF32));
  PLIMSOLL_ASSIGN(const Chain chain, try_parse_chain(op, call.attributes.get_string("chain")));
  const TensorDesc value{x.dtype, x.shape, {}};
  PLIMSOLL_RETURN_IF_ERROR(check_chain(op, chain, value, call.srcs.subspan(1)));
  return std::vector<TensorDesc>(1 + chain.kept_count(), value);
}

Cost cost(const OpCall& call) {
  return {.flops = chain_flops(chain_of(call.attributes), call.dsts[0], call.srcs.subspan(1)),
          .bytes = moved_bytes(call)};
}

/// dst is written last of all, so it may have the bytes of any source of its size.
std::vector<Alias> aliases(const OpCall& call) {
  std::vector<Alias> out;
  for (size_t i = 0; i < call.srcs.size(); ++i)
    if (call.srcs[i].dtype == DType::kF32)
      for (const Alias& alias : in_place_alias(call, static_cast<int>(i))) out.push_back(alias);
  return out;
}

/// A piece would have another dropout mask.
std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  if (chain_of(call.attributes).has("dropout")) return {};
  return broadcast_chunks(call);
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  dsts[0].data = srcs[0].data;
  evaluate_chain(chain_of(attributes), dsts[0], srcs.subspan(1), dsts.subspan(1));
}

constexpr const char* kDropAndAdd = "dropout(_, s0, s1, s2) {p=0.25, path=\"h.0\"} | add(s3, _)";

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::string& chain, std::vector<SampleSrc> srcs) {
    out.push_back({.srcs = std::move(srcs), .attributes = {{"chain", chain}}, .has_gradient = false});
  };
  for (const Shape& shape : elementwise_shapes()) {
    const SampleSrc x = f32_src(shape, -2, 2), y = f32_src(shape, 0.5, 2);
    add("gelu(_) {approximate=\"tanh\"} | multiply(_, s0)", {x, y});
    add("keep | tanh(_) | keep | subtract(s0, _) | divide(_, s1) | keep", {x, f32_src({}), y});
    add("gelu_grad(s0, _) {approximate=\"none\"} | relu_grad(_, s1) | clip(_) {max=1.5, min=-1.0}", {x, y, x});
    for (const double microbatch : {0.0, 3.0})
      add(kDropAndAdd,
          {x, scalar_src(DType::kI64, 1234), scalar_src(DType::kI64, 3), scalar_src(DType::kI64, microbatch), y});
  }
  add("", {f32_src({17})});
  add("keep", {f32_src({17})});
  add("add(_, s0) | maximum(s1, _) | pow(_, s0) | add(_, s2)",
      {f32_src({5, 3, 7}), f32_src({7}, 1, 2), f32_src({3, 7}, 0.5, 2), f32_src({1, 3, 7})});
  add("add(_, s0) | sigmoid(_) | sigmoid_grad(_, s1) | tanh_grad(s1, _)",
      {f32_src({3, 1025}), f32_src({1025}), f32_src({3, 1025}, -1, 1)});
  add("multiply(_, s0) | add(_, s1) | exp(_)", {f32_src({1025, 3}), f32_src({3}), f32_src({1, 1})});
  return out;
}

}  // namespace

void define_elementwise_chain(OpTable& table) {
  table.add({.name = "elementwise_chain",
             .doc = "dst = x after the steps of `chain`, one after the other; `keep` makes the value at its place a "
                    "further output. What `fuse_elementwise` makes of neighbours",
             .srcs = {"x", "srcs"},
             .dsts = {"dst", "kept"},
             .optional_srcs = 1,
             .is_variadic = true,
             .attributes = {{.name = "chain",
                             .doc = "steps such as gelu(_) | add(_, s0): _ is the running value, s0 the first of srcs",
                             .example = std::string("gelu(_) | add(_, s0)")}},
             .infer = infer,
             .cost = cost,
             .aliases = aliases,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
