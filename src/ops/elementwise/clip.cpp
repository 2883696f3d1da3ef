// clip: keeps elements inside a range.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elementwise/unary.h"
#include "ops/infer_rules.h"

namespace plimsoll::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating("clip", "src", call.srcs[0]));
  const double low = call.attributes.get_float("min");
  const double high = call.attributes.get_float("max");
  if (!(low <= high))
    return invalid_argument("[clip] min is " + to_string(Attribute{low}) + " and max is " + to_string(Attribute{high}) +
                            "; expected min <= max");
  return std::vector<TensorDesc>{{call.srcs[0].dtype, call.srcs[0].shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const double low = attributes.get_float("min");
  const double high = attributes.get_float("max");
  for (int64_t i = 0; i < dsts[0].numel(); ++i) dsts[0][i] = std::clamp(srcs[0][i], low, high);
}

/// `d` where the input is on the inner side of `bound`, else 0.
graph::ValueId masked(GradientContext& c, graph::ValueId d, double bound, const std::string& direction) {
  if (std::isinf(bound)) return d;
  const DType dtype = c.src_desc(0).dtype;
  const auto is_inside = c.add("compare", {c.src(0), c.constant(bound, dtype)}, {{"direction", direction}});
  return c.add("where", {is_inside, d, c.constant(0, dtype)});
}

void gradient(GradientContext& c) {
  const auto above_min = masked(c, c.d_dst(0), c.attributes().get_float("min"), "ge");
  c.set_d_src(0, masked(c, above_min, c.attributes().get_float("max"), "le"));
}

/// Every sample without bounds, with either and with both.
std::vector<Sample> samples(const std::vector<Sample>& plain) {
  std::vector<Sample> out;
  for (const auto& [low, high] : {std::pair{-kInfinity, kInfinity}, {-0.5, kInfinity}, {-kInfinity, 0.5}, {-0.5, 0.75}})
    for (Sample sample : plain) {
      sample.attributes = {{"min", low}, {"max", high}};
      out.push_back(std::move(sample));
    }
  return out;
}

}  // namespace

void define_clip(OpTable& table) {
  OpDef def = make_unary({.name = "clip",
                          .doc = "dst = min where src is below it, max where src is above it, else src",
                          .gradient = gradient,
                          .flops_per_element = 2});
  def.attributes = {{.name = "min", .default_value = -kInfinity}, {.name = "max", .default_value = kInfinity}};
  def.infer = infer;
  def.evaluate = evaluate;
  def.samples = [plain = def.samples] { return samples(plain()); };
  table.add(std::move(def));
}

}  // namespace plimsoll::ops
