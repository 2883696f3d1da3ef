#include "ops/elementwise/binary.h"

#include "ops/broadcast.h"
#include "ops/elementwise/unary.h"
#include "ops/expect.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const std::string& op, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating(op, "a", call.srcs[0]));
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, "b", call.srcs[1], call.srcs[0].dtype));
  const std::vector<std::string> names{"a", "b"};
  PLIMSOLL_ASSIGN(const Shape shape, try_broadcast_all(op, names, call.srcs));
  return std::vector<TensorDesc>{{call.srcs[0].dtype, shape, {}}};
}

}  // namespace

std::vector<std::pair<Shape, Shape>> binary_shapes() {
  return {{{}, {}},         {{1}, {1}},       {{7}, {7}},           {{17}, {17}},
          {{3, 5}, {3, 5}}, {{3, 5}, {}},     {{}, {3, 5}},         {{4, 7}, {7}},
          {{7}, {4, 7}},    {{4, 1}, {1, 7}}, {{2, 3, 4}, {3, 1}},  {{2, 1, 4}, {3, 1}},
          {{1, 3}, {2, 3}}, {{1025}, {1025}}, {{17, 1025}, {1025}}, {{1025, 1}, {17}},
          {{0}, {0}},       {{4, 0}, {1}},    {{3, 1}, {0}}};
}

OpDef make_binary(const BinaryRule& rule) {
  const auto samples = [rule] {
    std::vector<Sample> out;
    for (const auto& [a, b] : binary_shapes())
      out.push_back({.srcs = {{.desc = {DType::kF32, a, {}}, .low = rule.low_a, .high = rule.high_a},
                              {.desc = {DType::kF32, b, {}}, .low = rule.low_b, .high = rule.high_b}},
                     .has_gradient = try_broadcast(a, b)->numel() <= kMaxGradientNumel});
    out.push_back({.srcs = {exact_src(DType::kF32, {3}, {kNaN, 1, kNaN}), exact_src(DType::kF32, {3}, {1, kNaN, kNaN})},
                   .has_gradient = false});
    return out;
  };
  return {.name = rule.name,
          .doc = rule.doc,
          .srcs = {"a", "b"},
          .dsts = {"dst"},
          .infer = [op = rule.name](const OpCall& call) { return infer(op, call); },
          .gradient = rule.gradient,
          .cost = [](const OpCall& call) { return elementwise_cost(call, 1); },
          .aliases = [](const OpCall& call) { return in_place_alias(call, 0); },
          .chunkable = broadcast_chunks,
          .evaluate =
              [function = rule.function](std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
                const BroadcastIndex a(srcs[0].desc.shape, dsts[0].desc.shape);
                const BroadcastIndex b(srcs[1].desc.shape, dsts[0].desc.shape);
                for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = function(srcs[0][a(i)], srcs[1][b(i)]);
              },
          .samples = samples};
}

void set_binary_gradients(GradientContext& c, const std::function<graph::ValueId()>& d_a,
                          const std::function<graph::ValueId()>& d_b) {
  if (c.wants(0)) c.set_d_src(0, c.sum_to(d_a(), c.src_desc(0).shape));
  if (c.wants(1)) c.set_d_src(1, c.sum_to(d_b(), c.src_desc(1).shape));
}

}  // namespace plimsoll::ops
