#include "ops/optimizer/update_rules.h"

#include <cmath>

#include "ops/elementwise/extremum.h"
#include "ops/expect.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kParam, kGrad, kM, kV, kLr, kStep, kGradScale, kVMax };

bool has_v_max(const OpCall& call) { return call.srcs.size() > kVMax; }

Status check_attributes(const std::string& op, const Attributes& attributes) {
  for (const char* name : {"beta1", "beta2"})
    if (const double beta = attributes.get_float(name); !(beta >= 0 && beta < 1))
      return invalid_argument("[" + op + "] " + name + " is " + to_string(Attribute(beta)) + "; expected 0 <= " + name +
                              " < 1");
  return {};
}

Result<std::vector<TensorDesc>> infer(const std::string& op, const OpCall& call) {
  const TensorDesc& param = call.srcs[kParam];
  const TensorDesc number{DType::kF32, {}, {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, "param", param, DType::kF32));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "grad", call.srcs[kGrad], param));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "m", call.srcs[kM], param));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "v", call.srcs[kV], param));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "lr", call.srcs[kLr], number));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "step", call.srcs[kStep], {DType::kI64, {}, {}}));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "grad_scale", call.srcs[kGradScale], number));
  if (has_v_max(call)) PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "v_max", call.srcs[kVMax], param));
  PLIMSOLL_RETURN_IF_ERROR(check_attributes(op, call.attributes));
  return std::vector<TensorDesc>(has_v_max(call) ? 4 : 3, param);
}

std::vector<Alias> aliases(const OpCall& call) {
  std::vector<Alias> out{{.dst = 0, .src = kParam, .kind = Alias::Kind::kUpdate},
                         {.dst = 1, .src = kM, .kind = Alias::Kind::kUpdate},
                         {.dst = 2, .src = kV, .kind = Alias::Kind::kUpdate}};
  if (has_v_max(call)) out.push_back({.dst = 3, .src = kVMax, .kind = Alias::Kind::kUpdate});
  return out;
}

void evaluate(WeightDecay decay, std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const double beta1 = attributes.get_float("beta1");
  const double beta2 = attributes.get_float("beta2");
  const double weight_decay = attributes.get_float("weight_decay");
  const double lr = srcs[kLr][0];
  const double step_size = lr / (1 - std::pow(beta1, srcs[kStep][0]));
  const double root_correction2 = std::sqrt(1 - std::pow(beta2, srcs[kStep][0]));
  for (int64_t i = 0; i < dsts[0].numel(); ++i) {
    double param = srcs[kParam][i];
    double g = srcs[kGrad][i] * srcs[kGradScale][0];
    if (decay == WeightDecay::kInGradient) g += weight_decay * param;
    if (decay == WeightDecay::kDecoupled) param -= lr * weight_decay * param;
    const double m = dsts[1][i] = beta1 * srcs[kM][i] + (1 - beta1) * g;
    double v = dsts[2][i] = beta2 * srcs[kV][i] + (1 - beta2) * g * g;
    if (srcs.size() > kVMax) v = dsts[3][i] = larger_or_nan(srcs[kVMax][i], v);
    dsts[0][i] = param - step_size * m / (std::sqrt(v) / root_correction2 + attributes.get_float("eps"));
  }
}

Sample make_sample(const Shape& shape, double step, bool with_v_max, Attributes attributes) {
  Sample out{.srcs = {f32_src(shape), f32_src(shape), f32_src(shape), f32_src(shape, 0, 1),
                      scalar_src(DType::kF32, 0.125), scalar_src(DType::kI64, step), scalar_src(DType::kF32, 0.5)},
             .attributes = std::move(attributes)};
  if (with_v_max) out.srcs.push_back(f32_src(shape, 0, 1));
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{17, 5}, Shape{1025}, Shape{0}})
    for (const bool with_v_max : {false, true})
      for (const double step : {1.0, 1000.0}) {
        out.push_back(make_sample(shape, step, with_v_max, {}));
        out.push_back(make_sample(shape, step, with_v_max,
                                  {{"beta1", 0.5}, {"beta2", 0.95}, {"eps", 1e-3}, {"weight_decay", 0.25}}));
      }
  Sample not_numbers = make_sample({2}, 1, true, {});
  not_numbers.srcs[kV] = exact_src(DType::kF32, {2}, {kNaN, 1});
  not_numbers.srcs[kVMax] = exact_src(DType::kF32, {2}, {1, kNaN});
  out.push_back(not_numbers);
  return out;
}

}  // namespace

std::vector<ChunkableAxis> every_axis_of_param(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  const Shape& shape = call.srcs[0].shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    ChunkableAxis chunk{.dst_axis = axis};
    for (const TensorDesc& src : call.srcs) chunk.src_axes.push_back(src.shape == shape ? axis : -1);
    out.push_back(chunk);
  }
  return out;
}

OpDef make_adam_op(const std::string& name, std::string doc, WeightDecay decay) {
  // Two products and a sum for each moment, the root, the quotients, the step, the scale and the decay.
  constexpr int64_t kFlopsAnElement = 15;
  return {.name = name,
          .doc = std::move(doc),
          .srcs = {"param", "grad", "m", "v", "lr", "step", "grad_scale", "v_max"},
          .dsts = {"param", "m", "v", "v_max"},
          .optional_srcs = 1,
          .attributes = {{.name = "beta1", .default_value = 0.9},
                         {.name = "beta2", .default_value = 0.999},
                         {.name = "eps", .default_value = 1e-8, .doc = "added to the root, after bias correction"},
                         {.name = "weight_decay", .default_value = 0.0}},
          .infer = [name](const OpCall& call) { return infer(name, call); },
          .cost =
              [](const OpCall& call) {
                return Cost{.flops = kFlopsAnElement * call.dsts[0].numel(), .bytes = moved_bytes(call)};
              },
          .aliases = aliases,
          .chunkable = every_axis_of_param,
          .evaluate = [decay](std::span<const Array> srcs, std::span<Array> dsts,
                              const Attributes& attributes) { evaluate(decay, srcs, dsts, attributes); },
          .samples = samples};
}

}  // namespace plimsoll::ops
