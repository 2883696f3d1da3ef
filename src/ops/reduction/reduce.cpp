#include "ops/reduction/reduce.h"

#include "ops/broadcast.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Status check_axes(const std::string& op, const OpCall& call) {
  std::array<bool, Shape::kMaxRank> seen{};
  for (int64_t axis : call.attributes.get_ints("axes")) {
    PLIMSOLL_ASSIGN(const int own, try_axis(op, axis, "src", call.srcs[0]));
    bool& was_seen = seen[static_cast<size_t>(own)];
    if (was_seen)
      return invalid_argument("[" + op + "] axes " + to_string(Attribute{call.attributes.get_ints("axes")}) +
                              " name axis " + std::to_string(own) + " of src " + to_string(call.srcs[0]) +
                              " twice; expected each once");
    was_seen = true;
  }
  return {};
}

Shape reduced_shape(const Shape& shape, const Attributes& attributes) {
  if (attributes.get_bool("keep_dims")) return keep_dims_shape(shape, attributes);
  const auto is_reduced = reduced_axes(attributes, shape.rank());
  Shape out;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (!is_reduced[static_cast<size_t>(axis)]) out.push_back(shape[axis]);
  return out;
}

Result<std::vector<TensorDesc>> infer(const ReduceRule& rule, const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_floating(rule.name, "src", call.srcs[0]));
  PLIMSOLL_RETURN_IF_ERROR(check_axes(rule.name, call));
  const TensorDesc dst{call.srcs[0].dtype, reduced_shape(call.srcs[0].shape, call.attributes), {}};
  if (!rule.takes_empty && call.srcs[0].numel() == 0 && dst.numel() > 0)
    return invalid_argument("[" + rule.name + "] src " + to_string(call.srcs[0]) +
                            " has no elements along the axes; expected at least one");
  return std::vector<TensorDesc>{dst};
}

void evaluate(const ReduceRule& rule, const Array& src, Array& dst, const Attributes& attributes) {
  std::fill(dst.data.begin(), dst.data.end(), rule.start);
  const BroadcastIndex target(keep_dims_shape(src.desc.shape, attributes), src.desc.shape);
  for (int64_t i = 0; i < src.numel(); ++i) dst[target(i)] = rule.combine(dst[target(i)], src[i]);
  if (rule.finish == nullptr || dst.numel() == 0) return;
  const int64_t count = src.numel() / dst.numel();
  for (double& total : dst.data) total = rule.finish(total, static_cast<double>(count));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const int rank = call.srcs[0].shape.rank();
  const auto is_reduced = reduced_axes(call.attributes, rank);
  const bool keeps = call.attributes.get_bool("keep_dims");
  std::vector<ChunkableAxis> out;
  int dst_axis = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const bool stays = !is_reduced[static_cast<size_t>(axis)];
    if (stays) out.push_back({.dst_axis = dst_axis, .src_axes = {axis}});
    if (stays || keeps) ++dst_axis;
  }
  return out;
}

std::vector<Sample> samples(bool takes_empty) {
  std::vector<Sample> out;
  const auto add = [&](Shape shape, std::vector<int64_t> axes, bool keep_dims) {
    out.push_back({.srcs = {{.desc = {DType::kF32, shape, {}}, .low = 0.5, .high = 1.5}},
                   .attributes = {{"axes", std::move(axes)}, {"keep_dims", keep_dims}},
                   .has_gradient = shape.numel() <= 128});
  };
  for (const bool keep_dims : {false, true}) {
    add({3, 4, 5}, {}, keep_dims);
    add({3, 4, 5}, {0}, keep_dims);
    add({3, 4, 5}, {1}, keep_dims);
    add({3, 4, 5}, {-1}, keep_dims);
    add({3, 4, 5}, {0, 2}, keep_dims);
    add({2, 3, 2, 3}, {3, 1}, keep_dims);
    add({}, {}, keep_dims);
    add({1}, {0}, keep_dims);
    add({7}, {}, keep_dims);
    add({17, 7}, {0}, keep_dims);
    add({7, 17}, {1}, keep_dims);
    add({1025}, {}, keep_dims);
    add({1025, 17}, {0}, keep_dims);
    add({17, 1025}, {1}, keep_dims);
    add({0, 5}, {1}, keep_dims);
    if (takes_empty) add({0, 5}, {0}, keep_dims);
  }
  if (takes_empty) add({0}, {}, false);
  for (const int64_t axis : {0, 1})  // NaN first, between and last along either axis
    out.push_back({.srcs = {exact_src(DType::kF32, {3, 3}, {kNaN, 2, 3, 4, kNaN, 6, 7, 8, kNaN})},
                   .attributes = {{"axes", std::vector<int64_t>{axis}}},
                   .has_gradient = false});
  return out;
}

}  // namespace

std::array<bool, Shape::kMaxRank> reduced_axes(const Attributes& attributes, int rank) {
  std::array<bool, Shape::kMaxRank> out{};
  const std::vector<int64_t>& axes = attributes.get_ints("axes");
  if (axes.empty()) out.fill(true);
  for (int64_t axis : axes) out[static_cast<size_t>(*try_normalize_axis(axis, rank))] = true;
  return out;
}

Shape keep_dims_shape(const Shape& shape, const Attributes& attributes) {
  const auto is_reduced = reduced_axes(attributes, shape.rank());
  Shape out = shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (is_reduced[static_cast<size_t>(axis)]) out[axis] = 1;
  return out;
}

graph::ValueId with_kept_dims(GradientContext& c, graph::ValueId value) {
  const Shape kept = keep_dims_shape(c.src_desc(0).shape, c.attributes());
  if (c.dst_desc(0).shape == kept) return value;
  return c.add("reshape", {value}, {{"shape", to_ints(kept)}});
}

OpDef make_reduce(const ReduceRule& rule) {
  return {.name = rule.name,
          .doc = rule.doc,
          .srcs = {"src"},
          .dsts = {"dst"},
          .attributes = {{.name = "axes", .default_value = std::vector<int64_t>{}, .doc = "empty: all"},
                         {.name = "keep_dims", .default_value = false, .doc = "leave 1 for each reduced axis"}},
          .infer = [rule](const OpCall& call) { return infer(rule, call); },
          .gradient = rule.gradient,
          .cost = [](const OpCall& call) { return Cost{.flops = call.srcs[0].numel(), .bytes = moved_bytes(call)}; },
          .workspace_bound =
              [](const OpCall& call) {
                return most_partial_results(call.srcs[0].numel(), call.dsts[0].numel()) * int64_t{sizeof(double)};
              },
          .chunkable = chunkable,
          .accumulating_dsts = rule.accumulates ? std::vector<int>{0} : std::vector<int>{},
          .evaluate = [rule](std::span<const Array> srcs, std::span<Array> dsts,
                             const Attributes& attributes) { evaluate(rule, srcs[0], dsts[0], attributes); },
          .samples = [takes_empty = rule.takes_empty] { return samples(takes_empty); }};
}

}  // namespace plimsoll::ops
