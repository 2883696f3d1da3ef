// argmax: where the largest element stands along an axis.
#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  PLIMSOLL_RETURN_IF_ERROR(check_floating("argmax", "src", src));
  PLIMSOLL_ASSIGN(const int axis, try_axis("argmax", call.attributes.get_int("axis"), "src", src));
  if (src.shape[axis] == 0)
    return invalid_argument("[argmax] src " + to_string(src) + " has no elements along axis " + std::to_string(axis) +
                            "; expected at least one");
  Shape shape;
  for (int i = 0; i < src.shape.rank(); ++i)
    if (i != axis)
      shape.push_back(src.shape[i]);
    else if (call.attributes.get_bool("keep_dims"))
      shape.push_back(1);
  return std::vector<TensorDesc>{{DType::kI64, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const Shape& shape = srcs[0].desc.shape;
  const AxisSpan span = make_axis_span(shape, axis_of(shape, attributes));
  for (int64_t o = 0; o < span.outer; ++o)
    for (int64_t i = 0; i < span.inner; ++i) {
      const int64_t first = o * span.extent * span.inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < span.extent; ++k)
        if (srcs[0][first + k * span.inner] > srcs[0][first + best * span.inner]) best = k;
      dsts[0][o * span.inner + i] = static_cast<double>(best);
    }
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const Shape& shape = call.srcs[0].shape;
  const int own = axis_of(shape, call.attributes);
  const int removed = call.attributes.get_bool("keep_dims") ? 0 : 1;
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != own) out.push_back({.dst_axis = axis < own ? axis : axis - removed, .src_axes = {axis}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, int64_t axis, bool keep_dims) {
    out.push_back(
        {.srcs = {std::move(src)}, .attributes = {{"axis", axis}, {"keep_dims", keep_dims}}, .has_gradient = false});
  };
  for (const bool keep_dims : {false, true}) {
    add(f32_src({7}), -1, keep_dims);
    add(f32_src({1}), 0, keep_dims);
    add(f32_src({3, 17}), 1, keep_dims);
    add(f32_src({17, 3}), 0, keep_dims);
    add(f32_src({3, 5, 4}), -2, keep_dims);
    add(f32_src({7, 1025}), -1, keep_dims);
    add(f32_src({1025, 7}), 0, keep_dims);
    add(f32_src({0, 3}), -1, keep_dims);
    add(exact_src(DType::kF32, {6}, {1, 3, 2, 3, 3, 0}), 0, keep_dims);  // the first of equal ones
  }
  return out;
}

}  // namespace

void define_argmax(OpTable& table) {
  table.add({.name = "argmax",
             .doc = "the index of the largest element along axis; the first of equal ones",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "axis", .default_value = int64_t{-1}},
                            {.name = "keep_dims", .default_value = false, .doc = "leave 1 for the axis"}},
             .infer = infer,
             .cost = [](const OpCall& call) { return Cost{.flops = call.srcs[0].numel(), .bytes = moved_bytes(call)}; },
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
