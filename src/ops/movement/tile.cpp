// tile: repeats a whole tensor along its axes.
#include <algorithm>

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/movement/index.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  const std::vector<int64_t>& repeats = call.attributes.get_ints("repeats");
  std::vector<int64_t> extents = to_ints(src.shape);
  bool is_valid = repeats.size() == extents.size();
  for (size_t axis = 0; is_valid && axis < repeats.size(); ++axis)
    is_valid = repeats[axis] >= 0 && !__builtin_mul_overflow(extents[axis], repeats[axis], &extents[axis]);
  if (!is_valid)
    return invalid_argument("[tile] repeats are " + to_string(Attribute{repeats}) + " for src " + to_string(src) +
                            "; expected one count, 0 or more, an axis, and sizes that fit in 64 bits");
  PLIMSOLL_ASSIGN(const Shape shape, try_shape("tile", extents));
  return std::vector<TensorDesc>{{src.dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const Shape& shape = srcs[0].desc.shape;
  for (int64_t i = 0; i < dsts[0].numel(); ++i) {
    Index index = to_index(dsts[0].desc.shape, i);
    for (int axis = 0; axis < shape.rank(); ++axis) index[static_cast<size_t>(axis)] %= shape[axis];
    dsts[0][i] = srcs[0][to_element(shape, index)];
  }
}

/// One axis after the other: seen as [before, repeats, the rest], the repeats add up.
void gradient(GradientContext& c) {
  const std::vector<int64_t>& repeats = c.attributes().get_ints("repeats");
  graph::ValueId d = c.d_dst(0);
  Shape shape = c.dst_desc(0).shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t count = repeats[static_cast<size_t>(axis)];
    if (count == 1) continue;
    shape[axis] = c.src_desc(0).shape[axis];
    const int64_t before = shape.numel_between(0, axis);
    const int64_t rest = shape.numel_between(axis, shape.rank());
    d = c.add("reshape", {d}, {{"shape", to_ints({before, count, rest})}});
    d = c.add("reduce_sum", {d}, {{"axes", to_ints({1})}});
  }
  c.set_d_src(0, c.add("reshape", {d}, {{"shape", to_ints(shape)}}));
}

/// Axes that are not repeated.
std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const std::vector<int64_t>& repeats = call.attributes.get_ints("repeats");
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < call.dsts[0].shape.rank(); ++axis)
    if (repeats[static_cast<size_t>(axis)] == 1) out.push_back({.dst_axis = axis, .src_axes = {axis}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, std::vector<int64_t> repeats) {
    out.push_back(sample_of(std::move(src), {{"repeats", std::move(repeats)}}));
  };
  add(f32_src({}), {});
  add(f32_src({1}), {7});
  add(f32_src({7}), {1});
  add(f32_src({3, 5}), {2, 1});
  add(f32_src({3, 5}), {1, 3});
  add(f32_src({2, 3, 4}), {3, 1, 2});
  add(f32_src({2, 3}), {0, 2});
  add(f32_src({0, 3}), {2, 2});
  add(f32_src({1025, 1}), {1, 17});
  add(f32_src({7, 1025}), {2, 2});
  add(i32_src({4}, -9, 9), {3});
  return out;
}

}  // namespace

void define_tile(OpTable& table) {
  table.add({.name = "tile",
             .doc = "src repeated repeats[i] times along each axis i",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "repeats", .example = std::vector<int64_t>{1, 2}}},
             .infer = infer,
             .gradient = gradient,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
