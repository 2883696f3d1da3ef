// gather: slices of a tensor along an axis, by index; and its gradient.
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

/// `shape` with the axes [first, last) replaced by those of `between`. Errors: too many axes.
Result<Shape> try_replace_axes(const std::string& op, const Shape& shape, int first, int last, const Shape& between) {
  std::vector<int64_t> extents;
  for (int axis = 0; axis < first; ++axis) extents.push_back(shape[axis]);
  for (int64_t extent : between.dims()) extents.push_back(extent);
  for (int axis = last; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return try_shape(op, extents);
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("gather", "indices", call.srcs[1], DType::kI32));
  PLIMSOLL_ASSIGN(const int axis, try_axis("gather", call.attributes.get_int("axis"), "src", src));
  PLIMSOLL_ASSIGN(const Shape shape, try_replace_axes("gather", src.shape, axis, axis + 1, call.srcs[1].shape));
  return std::vector<TensorDesc>{{src.dtype, shape, {}}};
}

Result<std::vector<TensorDesc>> infer_gradient(const OpCall& call) {
  const TensorDesc &indices = call.srcs[0], &d_dst = call.srcs[1];
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("gather_grad", "indices", indices, DType::kI32));
  PLIMSOLL_RETURN_IF_ERROR(check_floating("gather_grad", "d_dst", d_dst));
  const int64_t extent = call.attributes.get_int("extent");
  const int count = indices.shape.rank();
  const auto axis = try_normalize_axis(call.attributes.get_int("axis"), d_dst.shape.rank() - count + 1);
  bool fits = axis.has_value() && extent >= 0;
  for (int i = 0; fits && i < count; ++i) fits = d_dst.shape[*axis + i] == indices.shape[i];
  if (!fits)
    return invalid_argument("[gather_grad] indices is " + to_string(indices) + ", d_dst " + to_string(d_dst) +
                            " and the attributes are " + to_string(call.attributes) +
                            "; expected d_dst to have the axes of indices in place of axis, and extent >= 0");
  PLIMSOLL_ASSIGN(const Shape shape, try_replace_axes("gather_grad", d_dst.shape, *axis, *axis + count, Shape{extent}));
  return std::vector<TensorDesc>{{d_dst.dtype, shape, {}}};
}

/// Calls use(src element, dst element) for every element that an index in [0, extent) moves, in order of dst.
template <class Use>
void for_each_move(const Array& indices, const AxisSpan& span, const Use& use) {
  for (int64_t o = 0; o < span.outer; ++o)
    for (int64_t k = 0; k < indices.numel(); ++k) {
      const auto index = static_cast<int64_t>(indices[k]);
      if (index < 0 || index >= span.extent) continue;
      for (int64_t i = 0; i < span.inner; ++i)
        use((o * span.extent + index) * span.inner + i, (o * indices.numel() + k) * span.inner + i);
    }
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const AxisSpan span = make_axis_span(srcs[0].desc.shape, axis_of(srcs[0].desc.shape, attributes));
  for_each_move(srcs[1], span, [&](int64_t from, int64_t to) { dsts[0][to] = srcs[0][from]; });
}

void evaluate_gradient(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const AxisSpan span = make_axis_span(dsts[0].desc.shape, axis_of(dsts[0].desc.shape, attributes));
  for_each_move(srcs[0], span, [&](int64_t to, int64_t from) { dsts[0][to] += srcs[1][from]; });
}

/// Only what is asked for moves.
Cost cost(const OpCall& call) { return {.bytes = call.srcs[1].size_bytes() + 2 * call.dsts[0].size_bytes()}; }

Cost cost_gradient(const OpCall& call) { return {.flops = call.srcs[1].numel(), .bytes = moved_bytes(call)}; }

void gradient(GradientContext& c) {
  if (!c.wants(0)) return;
  const Shape& shape = c.src_desc(0).shape;
  const int axis = axis_of(shape, c.attributes());
  c.set_d_src(0, c.add("gather_grad", {c.src(1), c.d_dst(0)}, {{"axis", int64_t{axis}}, {"extent", shape[axis]}}));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const Shape &src = call.srcs[0].shape, &indices = call.srcs[1].shape;
  const int axis = axis_of(src, call.attributes);
  std::vector<ChunkableAxis> out;
  for (int i = 0; i < axis; ++i) out.push_back({.dst_axis = i, .src_axes = {i, -1}});
  for (int i = 0; i < indices.rank(); ++i) out.push_back({.dst_axis = axis + i, .src_axes = {-1, i}});
  for (int i = axis + 1; i < src.rank(); ++i) out.push_back({.dst_axis = i + indices.rank() - 1, .src_axes = {i, -1}});
  return out;
}

std::vector<ChunkableAxis> chunkable_gradient(const OpCall& call) {
  const Shape& dst = call.dsts[0].shape;
  const int axis = axis_of(dst, call.attributes);
  const int shift = call.srcs[0].shape.rank() - 1;
  std::vector<ChunkableAxis> out;
  for (int i = 0; i < dst.rank(); ++i)
    if (i != axis) out.push_back({.dst_axis = i, .src_axes = {-1, i < axis ? i : i + shift}});
  return out;
}

struct Case {
  Shape src;
  Shape indices;
  int64_t axis = 0;
};

/// More indices than extents, so that some repeat.
std::vector<Case> cases() {
  return {{{5}, {7}, 0},        {{5, 3}, {2, 4}, 0},   {{3, 5}, {7}, 1},    {{3, 5, 2}, {6}, -2},
          {{2, 3}, {}, 0},      {{1}, {1}, 0},         {{4, 17}, {0}, 0},   {{0, 3}, {2}, 1},
          {{1025, 7}, {17}, 0}, {{17, 1025}, {7}, -1}, {{7, 17}, {1025}, 1}};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const auto& [src, indices, axis] : cases())
    out.push_back({.srcs = {f32_src(src), i32_src(indices, 0, static_cast<double>(src.at(static_cast<int>(axis))))},
                   .attributes = {{"axis", axis}},
                   .has_gradient = src.numel() <= 128});
  out.push_back({.srcs = {f32_src({3, 2}), exact_src(DType::kI32, {5}, {-1, 2, 3, 0, 99})}});  // indices of no slice
  out.push_back({.srcs = {i32_src({5}, -9, 9), i32_src({3}, 0, 5)}, .has_gradient = false});
  return out;
}

std::vector<Sample> gradient_samples() {
  std::vector<Sample> out;
  for (const auto& [src, indices, axis] : cases()) {
    const int own = *try_normalize_axis(axis, src.rank());
    const int64_t extent = src[own];
    const Shape d_dst = *try_replace_axes("gather_grad", src, own, own + 1, indices);
    out.push_back({.srcs = {i32_src(indices, 0, static_cast<double>(extent)), f32_src(d_dst)},
                   .attributes = {{"axis", axis}, {"extent", extent}},
                   .has_gradient = false});
  }
  out.push_back({.srcs = {exact_src(DType::kI32, {4}, {-1, 1, 3, 1}), f32_src({4, 2})},
                 .attributes = {{"axis", int64_t{0}}, {"extent", int64_t{3}}},
                 .has_gradient = false});
  return out;
}

}  // namespace

void define_gather(OpTable& table) {
  table.add({.name = "gather",
             .doc = "the slices of src along axis that indices name; an index of no slice gives zeros",
             .srcs = {"src", "indices"},
             .dsts = {"dst"},
             .attributes = {{.name = "axis", .default_value = int64_t{0}}},
             .infer = infer,
             .gradient = gradient,
             .cost = cost,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
  table.add({.name = "gather_grad",
             .doc = "adds the slices of d_dst where they were gathered from; repeated indices add in order",
             .srcs = {"indices", "d_dst"},
             .dsts = {"d_src"},
             .attributes = {{.name = "axis", .default_value = int64_t{0}, .doc = "of d_src"},
                            {.name = "extent", .doc = "of d_src along axis", .example = int64_t{1}}},
             .infer = infer_gradient,
             .cost = cost_gradient,
             .chunkable = chunkable_gradient,
             .accumulating_dsts = {0},
             .evaluate = evaluate_gradient,
             .samples = gradient_samples});
}

}  // namespace plimsoll::ops
