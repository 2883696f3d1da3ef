#include "ops/elementwise/unary.h"

#include "ops/broadcast.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer_unary(const std::string& op, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating(op, "src", call.srcs[0]));
  return std::vector<TensorDesc>{{call.srcs[0].dtype, call.srcs[0].shape, {}}};
}

Result<std::vector<TensorDesc>> infer_gradient(const std::string& op, const std::string& saved, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating(op, saved, call.srcs[0]));
  if (call.srcs[0].shape != call.srcs[1].shape || call.srcs[0].dtype != call.srcs[1].dtype)
    return invalid_argument("[" + op + "] " + saved + " is " + to_string(call.srcs[0]) + " and d_y is " +
                            to_string(call.srcs[1]) + "; expected two inputs of one type and shape");
  return std::vector<TensorDesc>{{call.srcs[0].dtype, call.srcs[0].shape, {}}};
}

}  // namespace

std::vector<Shape> elementwise_shapes() { return {{}, {1}, {7}, {17}, {3, 5, 7}, {1025}, {0}, {4, 0, 3}}; }

OpDef make_unary(const UnaryRule& rule) {
  const auto samples = [low = rule.low, high = rule.high] {
    std::vector<Sample> out;
    for (const Shape& shape : elementwise_shapes())
      out.push_back({.srcs = {{.desc = {DType::kF32, shape, {}}, .low = low, .high = high}},
                     .has_gradient = shape.numel() <= kMaxGradientNumel});
    out.push_back({.srcs = {exact_src(DType::kF32, {2}, {kNaN, (low + high) / 2})}, .has_gradient = false});
    return out;
  };
  return {.name = rule.name,
          .doc = rule.doc,
          .srcs = {"src"},
          .dsts = {"dst"},
          .infer = [op = rule.name](const OpCall& call) { return infer_unary(op, call); },
          .gradient = rule.gradient,
          .cost = [flops = rule.flops_per_element](const OpCall& call) { return elementwise_cost(call, flops); },
          .aliases = [](const OpCall& call) { return in_place_alias(call, 0); },
          .chunkable = broadcast_chunks,
          .evaluate =
              [function = rule.function](std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
                for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = function(srcs[0][i]);
              },
          .samples = samples};
}

OpDef make_unary_gradient(UnaryGradientRule rule) {
  const auto samples = [low = rule.low, high = rule.high] {
    std::vector<Sample> out;
    for (const Shape& shape : elementwise_shapes()) {
      const TensorDesc desc{DType::kF32, shape, {}};
      out.push_back({.srcs = {{.desc = desc, .low = low, .high = high}, {.desc = desc}}, .has_gradient = false});
    }
    return out;
  };
  return {.name = rule.name,
          .doc = rule.doc,
          .srcs = {rule.saved, "d_y"},
          .dsts = {"d_x"},
          .infer = [op = rule.name, saved = rule.saved](const OpCall& call) { return infer_gradient(op, saved, call); },
          .cost = [flops = rule.flops_per_element](const OpCall& call) { return elementwise_cost(call, flops); },
          .aliases = [](const OpCall& call) { return in_place_alias(call, 1); },
          .chunkable = broadcast_chunks,
          .evaluate =
              [function = rule.function](std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
                for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = function(srcs[0][i], srcs[1][i]);
              },
          .samples = samples};
}

}  // namespace plimsoll::ops
