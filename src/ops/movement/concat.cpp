// concat: tensors one behind the other along an axis.
#include <algorithm>

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Error mismatch(const OpCall& call, size_t i, int axis) {
  return invalid_argument("[concat] srcs[" + std::to_string(i) + "] is " + to_string(call.srcs[i]) + " and srcs[0] " +
                          to_string(call.srcs[0]) + "; expected one type and equal extents but along axis " +
                          std::to_string(axis));
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  TensorDesc dst{call.srcs[0].dtype, call.srcs[0].shape, {}};
  PLIMSOLL_ASSIGN(const int axis, try_axis("concat", call.attributes.get_int("axis"), "srcs[0]", dst));
  for (size_t i = 1; i < call.srcs.size(); ++i) {
    Shape expected = call.srcs[0].shape;
    if (call.srcs[i].shape.rank() != expected.rank()) return mismatch(call, i, axis);
    expected[axis] = call.srcs[i].shape[axis];
    if (call.srcs[i].shape != expected || call.srcs[i].dtype != dst.dtype) return mismatch(call, i, axis);
    if (__builtin_add_overflow(dst.shape[axis], expected[axis], &dst.shape[axis]))
      return invalid_argument("[concat] axis " + std::to_string(axis) + " becomes too long with srcs[" +
                              std::to_string(i) + "] " + to_string(call.srcs[i]) +
                              "; expected sizes that fit in 64 bits");
  }
  return std::vector<TensorDesc>{dst};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const Shape& shape = dsts[0].desc.shape;
  const int axis = axis_of(shape, attributes);
  const AxisSpan whole = make_axis_span(shape, axis);
  int64_t start = 0;
  for (const Array& src : srcs) {
    const int64_t row = src.desc.shape[axis] * whole.inner;
    for (int64_t o = 0; o < whole.outer; ++o)
      for (int64_t i = 0; i < row; ++i) dsts[0][(o * whole.extent + start) * whole.inner + i] = src[o * row + i];
    start += src.desc.shape[axis];
  }
}

/// Slices, which are views along a leading axis.
void gradient(GradientContext& c) {
  const int axis = axis_of(c.dst_desc(0).shape, c.attributes());
  std::vector<int64_t> starts(static_cast<size_t>(c.dst_desc(0).shape.rank()));
  std::vector<int64_t> ends = to_ints(c.dst_desc(0).shape);
  int64_t& start = starts[static_cast<size_t>(axis)];
  int64_t& end = ends[static_cast<size_t>(axis)];
  for (size_t i = 0; i < c.src_count(); ++i, start = end) {
    end = start + c.src_desc(i).shape[axis];
    if (c.wants(i)) c.set_d_src(i, c.add("slice", {c.d_dst(0)}, {{"starts", starts}, {"ends", ends}}));
  }
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const Shape& shape = call.dsts[0].shape;
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != axis_of(shape, call.attributes))
      out.push_back({.dst_axis = axis, .src_axes = std::vector<int>(call.srcs.size(), axis)});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::vector<Shape>& shapes, int64_t axis) {
    Sample sample{.attributes = {{"axis", axis}}};
    for (const Shape& shape : shapes) {
      sample.srcs.push_back(f32_src(shape));
      sample.has_gradient = sample.has_gradient && shape.numel() <= 128;
    }
    out.push_back(std::move(sample));
  };
  add({{1}}, 0);
  add({{7}, {1}, {17}}, 0);
  add({{2, 3}, {4, 3}}, 0);
  add({{2, 3}, {2, 1}, {2, 5}}, -1);
  add({{2, 3, 4}, {2, 1, 4}}, 1);
  add({{2, 3}, {0, 3}, {1, 3}}, 0);
  add({{0, 3}, {0, 2}}, 1);
  add({{17, 7}, {1025, 7}}, 0);
  add({{7, 17}, {7, 1025}}, 1);
  out.push_back({.srcs = {i32_src({3}, -9, 9), i32_src({4}, -9, 9)},
                 .attributes = {{"axis", int64_t{0}}},
                 .has_gradient = false});
  return out;
}

}  // namespace

void define_concat(OpTable& table) {
  table.add({.name = "concat",
             .doc = "the inputs one behind the other along axis",
             .srcs = {"srcs"},
             .dsts = {"dst"},
             .is_variadic = true,
             .attributes = {{.name = "axis", .example = int64_t{0}}},
             .infer = infer,
             .gradient = gradient,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
