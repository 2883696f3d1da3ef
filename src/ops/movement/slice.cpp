// slice: every so manieth element of a range along each axis.
#include <algorithm>

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/movement/index.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

struct Range {
  int64_t start = 0;
  int64_t end = 0;
  int64_t step = 1;
  int64_t count() const { return end == start ? 0 : (end - start - 1) / step + 1; }
};

Range range_of(const Attributes& attributes, int axis) {
  const auto i = static_cast<size_t>(axis);
  const std::vector<int64_t>& steps = attributes.get_ints("steps");
  return {attributes.get_ints("starts")[i], attributes.get_ints("ends")[i], steps.empty() ? 1 : steps[i]};
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  const auto rank = static_cast<size_t>(src.shape.rank());
  const std::vector<int64_t>& steps = call.attributes.get_ints("steps");
  if (call.attributes.get_ints("starts").size() != rank || call.attributes.get_ints("ends").size() != rank ||
      (!steps.empty() && steps.size() != rank))
    return invalid_argument("[slice] src is " + to_string(src) + " and the attributes are " +
                            to_string(call.attributes) + "; expected one start, end and step an axis, or no steps");
  Shape shape = src.shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Range range = range_of(call.attributes, axis);
    if (range.start < 0 || range.end < range.start || range.end > shape[axis] || range.step < 1)
      return invalid_argument("[slice] axis " + std::to_string(axis) + " of src " + to_string(src) + " is asked for " +
                              std::to_string(range.start) + ".." + std::to_string(range.end) + " by " +
                              std::to_string(range.step) +
                              "; expected 0 <= start <= end <= " + std::to_string(shape[axis]) + " and step >= 1");
    shape[axis] = range.count();
  }
  return std::vector<TensorDesc>{{src.dtype, shape, {}}};
}

/// The element of src that is element `element` of dst.
int64_t source_element(const Shape& src, const Shape& dst, int64_t element, const Attributes& attributes) {
  Index index = to_index(dst, element);
  for (int axis = 0; axis < dst.rank(); ++axis) {
    const Range range = range_of(attributes, axis);
    int64_t& i = index[static_cast<size_t>(axis)];
    i = range.start + i * range.step;
  }
  return to_element(src, index);
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  for (int64_t i = 0; i < dsts[0].numel(); ++i)
    dsts[0][i] = srcs[0][source_element(srcs[0].desc.shape, dsts[0].desc.shape, i, attributes)];
}

/// Only what is read moves.
Cost cost(const OpCall& call) { return {.bytes = 2 * call.dsts[0].size_bytes()}; }

/// A view where the elements lie together: axes after the first of more than one element are whole.
std::vector<Alias> aliases(const OpCall& call) {
  const Shape &src = call.srcs[0].shape, &dst = call.dsts[0].shape;
  if (dst.numel() == 0) return {};
  int first = 0;
  while (first < dst.rank() && dst[first] == 1) ++first;
  for (int axis = first; axis < dst.rank(); ++axis) {
    const bool is_together = axis == first ? range_of(call.attributes, axis).step == 1 : dst[axis] == src[axis];
    if (!is_together) return {};
  }
  const int64_t offset = source_element(src, dst, 0, call.attributes) * size_bytes(call.srcs[0].dtype);
  return {{.kind = Alias::Kind::kView, .offset_bytes = offset}};
}

/// `d` with zeros between its elements along `axis`, so that it has one for each of `range.start`.. of `extent`.
graph::ValueId spread(GradientContext& c, graph::ValueId d, Shape& shape, int axis, const Range& range,
                      int64_t extent) {
  const AxisSpan span = make_axis_span(shape, axis);
  const int64_t count = std::min(span.extent * range.step, extent - range.start);
  const auto column = c.add("reshape", {d}, {{"shape", to_ints({span.outer * span.extent, 1, span.inner})}});
  const auto gaps =
      c.add("pad", {column}, {{"before", to_ints({0, 0, 0})}, {"after", to_ints({0, range.step - 1, 0})}});
  const auto row = c.add("reshape", {gaps}, {{"shape", to_ints({span.outer, span.extent * range.step, span.inner})}});
  const auto cut =
      c.add("slice", {row}, {{"starts", to_ints({0, 0, 0})}, {"ends", to_ints({span.outer, count, span.inner})}});
  shape[axis] = count;
  return c.add("reshape", {cut}, {{"shape", to_ints(shape)}});
}

/// Zeros wherever nothing was read: between elements first, then around them.
void gradient(GradientContext& c) {
  const Shape& src = c.src_desc(0).shape;
  graph::ValueId d = c.d_dst(0);
  Shape shape = c.dst_desc(0).shape;
  std::vector<int64_t> before, after;
  for (int axis = 0; axis < src.rank(); ++axis) {
    const Range range = range_of(c.attributes(), axis);
    if (range.step > 1 && shape.numel() > 0) d = spread(c, d, shape, axis, range, src[axis]);
    before.push_back(shape[axis] == 0 ? 0 : range.start);
    after.push_back(src[axis] - shape[axis] - before.back());
  }
  c.set_d_src(0, c.add("pad", {d}, {{"before", before}, {"after", after}}));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](Shape shape, std::vector<int64_t> starts, std::vector<int64_t> ends,
                       std::vector<int64_t> steps = {}) {
    out.push_back(sample_of(f32_src(shape),
                            {{"starts", std::move(starts)}, {"ends", std::move(ends)}, {"steps", std::move(steps)}}));
  };
  add({}, {}, {});
  add({1}, {0}, {1});
  add({7}, {2}, {5});           // a view
  add({5, 7}, {1, 0}, {4, 7});  // a view of rows
  add({5, 7}, {2, 1}, {3, 6});  // a view of a part of one row
  add({5, 7}, {0, 1}, {5, 6});  // columns: no view
  add({17}, {1}, {16}, {3});
  add({17}, {0}, {17}, {4});
  add({17}, {3}, {4}, {100});
  add({4, 5, 6}, {1, 0, 1}, {4, 5, 6}, {2, 1, 3});
  add({5, 7}, {1, 1}, {1, 3});  // empty
  add({0, 3}, {0, 0}, {0, 2});
  add({3, 1025}, {1, 0}, {2, 1025});
  add({3, 1025}, {0, 3}, {3, 1020}, {1, 17});
  return out;
}

}  // namespace

void define_slice(OpTable& table) {
  table.add({.name = "slice",
             .doc = "elements starts[i], starts[i] + steps[i], … below ends[i] along each axis i; no steps: all 1",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "starts", .example = std::vector<int64_t>{0, 0}},
                            {.name = "ends", .example = std::vector<int64_t>{2, 3}},
                            {.name = "steps", .default_value = std::vector<int64_t>{}}},
             .infer = infer,
             .gradient = gradient,
             .cost = cost,
             .aliases = aliases,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
