// pad: puts a constant around a tensor.
#include <algorithm>

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/movement/index.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  const std::vector<int64_t>& before = call.attributes.get_ints("before");
  const std::vector<int64_t>& after = call.attributes.get_ints("after");
  const auto rank = static_cast<size_t>(src.shape.rank());
  const auto is_negative = [](int64_t count) { return count < 0; };
  if (before.size() != rank || after.size() != rank || std::any_of(before.begin(), before.end(), is_negative) ||
      std::any_of(after.begin(), after.end(), is_negative))
    return invalid_argument("[pad] src is " + to_string(src) + ", before " + to_string(Attribute{before}) +
                            " and after " + to_string(Attribute{after}) + "; expected one count, 0 or more, an axis");
  PLIMSOLL_RETURN_IF_ERROR(check_number("pad", call.attributes.get_float("value"), src.dtype));
  std::vector<int64_t> extents = to_ints(src.shape);
  for (size_t axis = 0; axis < rank; ++axis)
    if (__builtin_add_overflow(extents[axis], before[axis], &extents[axis]) ||
        __builtin_add_overflow(extents[axis], after[axis], &extents[axis]))
      return invalid_argument("[pad] axis " + std::to_string(axis) + " of src " + to_string(src) +
                              " becomes too long; expected sizes that fit in 64 bits");
  PLIMSOLL_ASSIGN(const Shape shape, try_shape("pad", extents));
  return std::vector<TensorDesc>{{src.dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const std::vector<int64_t>& before = attributes.get_ints("before");
  std::fill(dsts[0].data.begin(), dsts[0].data.end(), attributes.get_float("value"));
  for (int64_t i = 0; i < srcs[0].numel(); ++i) {
    Index index = to_index(srcs[0].desc.shape, i);
    for (size_t axis = 0; axis < before.size(); ++axis) index[axis] += before[axis];
    dsts[0][to_element(dsts[0].desc.shape, index)] = srcs[0][i];
  }
}

void gradient(GradientContext& c) {
  const std::vector<int64_t>& before = c.attributes().get_ints("before");
  std::vector<int64_t> ends = before;
  for (size_t axis = 0; axis < ends.size(); ++axis) ends[axis] += c.src_desc(0).shape[static_cast<int>(axis)];
  c.set_d_src(0, c.add("slice", {c.d_dst(0)}, {{"starts", before}, {"ends", ends}}));
}

/// Axes that stay as they are.
std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < call.dsts[0].shape.rank(); ++axis)
    if (call.srcs[0].shape[axis] == call.dsts[0].shape[axis]) out.push_back({.dst_axis = axis, .src_axes = {axis}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, std::vector<int64_t> before, std::vector<int64_t> after, double value = 0) {
    out.push_back(
        sample_of(std::move(src), {{"before", std::move(before)}, {"after", std::move(after)}, {"value", value}}));
  };
  add(f32_src({}), {}, {});
  add(f32_src({1}), {0}, {3});
  add(f32_src({7}), {2}, {0}, 1.5);
  add(f32_src({3, 5}), {1, 0}, {2, 3});
  add(f32_src({2, 3, 4}), {0, 1, 0}, {0, 2, 0}, -0.5);
  add(f32_src({17}), {0}, {0});
  add(f32_src({3, 1025}), {1, 7}, {1, 0});
  add(f32_src({0, 3}), {2, 0}, {0, 1}, 2);
  add(f32_src({0}), {0}, {0});
  add(i32_src({3, 4}, -9, 9), {1, 1}, {1, 1}, -100);
  return out;
}

}  // namespace

void define_pad(OpTable& table) {
  table.add({.name = "pad",
             .doc = "before[i] and after[i] elements of value around src along each axis i",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "before", .example = std::vector<int64_t>{0, 1}},
                            {.name = "after", .example = std::vector<int64_t>{0, 1}},
                            {.name = "value", .default_value = 0.0}},
             .infer = infer,
             .gradient = gradient,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
