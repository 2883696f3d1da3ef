// sgd: one step of gradient descent with momentum, in place.
#include <algorithm>
#include <cmath>

#include "ops/expect.h"
#include "ops/op_table.h"
#include "ops/optimizer/update_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kParam, kGrad, kLr, kGradScale, kMomentum };

Status check_attributes(const Attributes& attributes, bool has_buffer) {
  const double momentum = attributes.get_float("momentum");
  const std::string given = to_string(Attribute(momentum));
  if (!(momentum >= 0)) return invalid_argument("[sgd] momentum is " + given + "; expected 0 or more");
  if ((momentum != 0) != has_buffer)
    return invalid_argument("[sgd] momentum is " + given + (has_buffer ? ", which needs no" : ", which needs a") +
                            " momentum buffer as fifth input");
  if (attributes.get_bool("nesterov") && (momentum == 0 || attributes.get_float("dampening") != 0))
    return invalid_argument("[sgd] nesterov needs a momentum above 0 and a dampening of 0");
  return {};
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc scalar{DType::kF32, {}, {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("sgd", "param", call.srcs[kParam], DType::kF32));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("sgd", "grad", call.srcs[kGrad], call.srcs[kParam]));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("sgd", "lr", call.srcs[kLr], scalar));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("sgd", "grad_scale", call.srcs[kGradScale], scalar));
  const bool has_buffer = call.srcs.size() > kMomentum;
  if (has_buffer) PLIMSOLL_RETURN_IF_ERROR(expect_desc("sgd", "momentum", call.srcs[kMomentum], call.srcs[kParam]));
  PLIMSOLL_RETURN_IF_ERROR(check_attributes(call.attributes, has_buffer));
  std::vector<TensorDesc> dsts{call.srcs[kParam]};
  if (has_buffer) dsts.push_back(call.srcs[kMomentum]);
  return dsts;
}

Cost cost(const OpCall& call) {
  const int64_t flops_an_element = call.srcs.size() > kMomentum ? 9 : 5;
  return {.flops = flops_an_element * call.dsts[0].numel(), .bytes = moved_bytes(call)};
}

std::vector<Alias> aliases(const OpCall& call) {
  std::vector<Alias> out{{.dst = 0, .src = kParam, .kind = Alias::Kind::kUpdate}};
  if (call.srcs.size() > kMomentum) out.push_back({.dst = 1, .src = kMomentum, .kind = Alias::Kind::kUpdate});
  return out;
}

/// With b the buffer, mu the momentum and g = grad_scale · grad + weight_decay · param:
/// b' = mu b + (1 - dampening) g, param' = param - lr (nesterov ? g + mu b' : b').
void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const double mu = attributes.get_float("momentum");
  const double fresh = 1 - attributes.get_float("dampening");
  const double decay = attributes.get_float("weight_decay");
  const double lr = srcs[kLr][0];
  for (int64_t i = 0; i < dsts[0].numel(); ++i) {
    const double g = srcs[kGrad][i] * srcs[kGradScale][0] + decay * srcs[kParam][i];
    double direction = g;
    if (srcs.size() > kMomentum) {
      dsts[1][i] = mu * srcs[kMomentum][i] + fresh * g;
      direction = attributes.get_bool("nesterov") ? g + mu * dsts[1][i] : dsts[1][i];
    }
    dsts[0][i] = srcs[kParam][i] - lr * direction;
  }
}

std::vector<Sample> samples() {
  const auto sample = [](const Shape& shape, Attributes attributes) {
    Sample out{.srcs = {f32_src(shape), f32_src(shape), scalar_src(DType::kF32, 0.125), scalar_src(DType::kF32, 0.5)},
               .attributes = std::move(attributes)};
    if (out.attributes.has("momentum")) out.srcs.push_back(f32_src(shape));
    return out;
  };
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{17, 5}, Shape{1025}, Shape{0}}) {
    out.push_back(sample(shape, {}));
    out.push_back(sample(shape, {{"weight_decay", 0.25}}));
    out.push_back(sample(shape, {{"momentum", 0.9}}));
    out.push_back(sample(shape, {{"momentum", 0.9}, {"dampening", 0.5}, {"weight_decay", 0.25}}));
    out.push_back(sample(shape, {{"momentum", 0.9}, {"nesterov", true}, {"weight_decay", 0.25}}));
  }
  return out;
}

}  // namespace

void define_sgd(OpTable& table) {
  table.add({.name = "sgd",
             .doc = "Gradient descent with weight decay and (Nesterov) momentum, as PyTorch's SGD; a dampened buffer "
                    "starts from 0, where PyTorch's starts from the first gradient",
             .srcs = {"param", "grad", "lr", "grad_scale", "momentum"},
             .dsts = {"param", "momentum"},
             .optional_srcs = 1,
             .attributes = {{.name = "momentum", .default_value = 0.0, .doc = "share of the buffer that is kept"},
                            {.name = "dampening", .default_value = 0.0, .doc = "share of the gradient left out"},
                            {.name = "nesterov", .default_value = false},
                            {.name = "weight_decay", .default_value = 0.0, .doc = "L2: added to the gradient"}},
             .infer = infer,
             .cost = cost,
             .aliases = aliases,
             .chunkable = [](const OpCall& call) { return every_axis_of_param(call); },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
