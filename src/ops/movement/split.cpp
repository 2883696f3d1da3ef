// split: cuts a tensor into pieces along an axis.
#include <algorithm>

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

/// Whether the sizes are 0 or more and add up to `extent`; taken off one by one, so that nothing overflows.
bool adds_up(const std::vector<int64_t>& sizes, int64_t extent) {
  for (int64_t size : sizes) {
    if (size < 0 || size > extent) return false;
    extent -= size;
  }
  return extent == 0 && !sizes.empty();
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  const std::vector<int64_t>& sizes = call.attributes.get_ints("sizes");
  PLIMSOLL_ASSIGN(const int axis, try_axis("split", call.attributes.get_int("axis"), "src", src));
  if (!adds_up(sizes, src.shape[axis]))
    return invalid_argument("[split] sizes are " + to_string(Attribute{sizes}) + " along axis " + std::to_string(axis) +
                            " of src " + to_string(src) + "; expected sizes of 0 or more that add up to " +
                            std::to_string(src.shape[axis]));
  std::vector<TensorDesc> out(sizes.size(), {src.dtype, src.shape, {}});
  for (size_t i = 0; i < sizes.size(); ++i) out[i].shape[axis] = sizes[i];
  return out;
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const int axis = axis_of(srcs[0].desc.shape, attributes);
  const AxisSpan whole = make_axis_span(srcs[0].desc.shape, axis);
  int64_t start = 0;
  for (Array& dst : dsts) {
    const int64_t row = dst.desc.shape[axis] * whole.inner;
    for (int64_t o = 0; o < whole.outer; ++o)
      for (int64_t i = 0; i < row; ++i) dst[o * row + i] = srcs[0][(o * whole.extent + start) * whole.inner + i];
    start += dst.desc.shape[axis];
  }
}

/// The pieces' gradients one behind the other, zeros where a piece has none.
void gradient(GradientContext& c) {
  const std::string dtype(to_string(c.src_desc(0).dtype));
  std::vector<graph::ValueId> pieces;
  for (size_t i = 0; i < c.attributes().get_ints("sizes").size(); ++i)
    pieces.push_back(
        c.d_dst(i).is_valid()
            ? c.d_dst(i)
            : c.add("fill", {}, {{"shape", to_ints(c.dst_desc(i).shape)}, {"dtype", dtype}, {"value", 0.0}}));
  c.set_d_src(0, c.add("concat", std::move(pieces), {{"axis", c.attributes().get_int("axis")}}));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  const Shape& shape = call.srcs[0].shape;
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != axis_of(shape, call.attributes)) out.push_back({.dst_axis = axis, .src_axes = {axis}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, int64_t axis, std::vector<int64_t> sizes) {
    out.push_back(sample_of(std::move(src), {{"axis", axis}, {"sizes", std::move(sizes)}}));
  };
  add(f32_src({1}), 0, {1});
  add(f32_src({7}), 0, {2, 5});
  add(f32_src({17, 3}), 0, {1, 7, 9});
  add(f32_src({3, 17}), -1, {7, 0, 10});
  add(f32_src({2, 6, 3}), 1, {2, 2, 2});
  add(f32_src({7, 1025}), 1, {1024, 1});
  add(f32_src({0, 4}), 1, {1, 3});
  add(f32_src({0}), 0, {0, 0});
  add(i32_src({6}, -9, 9), 0, {2, 4});
  return out;
}

}  // namespace

void define_split(OpTable& table) {
  table.add({.name = "split",
             .doc = "pieces of these sizes along axis, one output each",
             .srcs = {"src"},
             .dsts = {"dsts"},
             .attributes = {{.name = "axis", .example = int64_t{0}},
                            {.name = "sizes", .example = std::vector<int64_t>{1, 2}}},
             .infer = infer,
             .gradient = gradient,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
