// cast: the same numbers in another element type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/broadcast.h"
#include "ops/elementwise/unary.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

const std::vector<std::string> kTypes{"f32", "bf16", "f16", "f64", "i8", "u8", "u16", "i32", "u32", "i64", "bool"};

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  return std::vector<TensorDesc>{{*try_parse_dtype(call.attributes.get_string("dtype")), call.srcs[0].shape, {}}};
}

/// Whole numbers go towards zero and stop at their type's ends; bool says whether it is not zero. Rounding to a smaller
/// floating type is left to whoever stores the result.
double convert(double x, DType dtype) {
  if (dtype == DType::kBool) return x != 0 ? 1 : 0;
  if (is_floating(dtype)) return x;
  const WholeRange range = whole_range(dtype);
  return std::isnan(x) ? 0 : std::clamp(std::trunc(x), range.low, range.end - 1);
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = convert(srcs[0][i], dsts[0].desc.dtype);
}

void gradient(GradientContext& c) {
  const std::string dtype(to_string(c.src_desc(0).dtype));
  c.set_d_src(0, c.add("cast", {c.d_dst(0)}, {{"dtype", dtype}}));
}

/// On both sides of the ends of every type of whole numbers.
const std::vector<double> kFarNumbers{-1e30, -3e9, -70000, -32769, -300,  -129,  -128, -1,  127, 128,
                                      255,   256,  300,    65535,  65536, 70000, 3e9,  5e9, 1e30};
const std::vector<double> kNotNumbers{kNaN, std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(), -0.0};

/// From and to every type, with numbers that all of them hold, and with such as only some hold.
std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, const std::string& dtype) {
    const bool has_gradient = is_floating(src.desc.dtype) && is_floating(*try_parse_dtype(dtype)) &&
                              src.desc.shape.numel() <= kMaxGradientNumel;
    out.push_back({.srcs = {std::move(src)}, .attributes = {{"dtype", dtype}}, .has_gradient = has_gradient});
  };
  const auto add_fixed = [&](SampleSrc src, const std::string& dtype) {
    out.push_back({.srcs = {std::move(src)}, .attributes = {{"dtype", dtype}}, .has_gradient = false});
  };
  for (const Shape& shape : elementwise_shapes()) add({.desc = {DType::kF32, shape, {}}}, "f32");
  for (const std::string& from : kTypes)
    for (const std::string& to : kTypes)
      add({.desc = {*try_parse_dtype(from), {17}, {}},
           .low = 0,
           .high = from == "bool" ? 2.0 : 99.0,
           .is_integer = true},
          to);
  for (const std::string& from : kTypes)
    for (const std::string& to : kTypes) {
      const DType dtype = *try_parse_dtype(from);
      if (dtype != DType::kBool) add_fixed(exact_src(dtype, {std::ssize(kFarNumbers)}, kFarNumbers), to);
      if (is_floating(dtype)) add_fixed(exact_src(dtype, {std::ssize(kNotNumbers)}, kNotNumbers), to);
    }
  add({.desc = {DType::kF32, {17}, {}}, .low = -99, .high = 99}, "i32");
  add({.desc = {DType::kF32, {7}, {}}, .low = -99, .high = 99}, "i8");
  return out;
}

}  // namespace

void define_cast(OpTable& table) {
  table.add(
      {.name = "cast",
       .doc =
           "dst = src as another element type; whole numbers go towards zero and stop at their type's ends, NaN gives "
           "0; src ≠ 0 for bool",
       .srcs = {"src"},
       .dsts = {"dst"},
       .attributes = {{.name = "dtype", .default_value = std::string("f32"), .allowed = kTypes}},
       .infer = infer,
       .gradient = gradient,
       .cost = [](const OpCall& call) { return elementwise_cost(call, 1); },
       .aliases = [](const OpCall& call) { return in_place_alias(call, 0); },
       .chunkable = broadcast_chunks,
       .evaluate = evaluate,
       .samples = samples});
}

}  // namespace plimsoll::ops
