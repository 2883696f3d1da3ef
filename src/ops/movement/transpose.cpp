// transpose: the axes in another order.
#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/movement/index.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& src = call.srcs[0];
  const std::vector<int64_t>& permutation = call.attributes.get_ints("permutation");
  const int rank = src.shape.rank();
  std::array<bool, Shape::kMaxRank> seen{};
  Shape shape;
  for (size_t i = 0; i < permutation.size() && static_cast<int>(permutation.size()) == rank; ++i) {
    const int64_t axis = permutation[i];
    if (axis < 0 || axis >= rank || seen[static_cast<size_t>(axis)]) break;
    seen[static_cast<size_t>(axis)] = true;
    shape.push_back(src.shape[static_cast<int>(axis)]);
  }
  if (shape.rank() != rank || permutation.size() != static_cast<size_t>(rank))
    return invalid_argument("[transpose] permutation " + to_string(Attribute{permutation}) + " of src " +
                            to_string(src) + "; expected each of its " + std::to_string(rank) + " axes once, from 0");
  return std::vector<TensorDesc>{{src.dtype, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const std::vector<int64_t>& permutation = attributes.get_ints("permutation");
  for (int64_t i = 0; i < dsts[0].numel(); ++i) {
    const Index to = to_index(dsts[0].desc.shape, i);
    Index from{};
    for (size_t axis = 0; axis < permutation.size(); ++axis) from[static_cast<size_t>(permutation[axis])] = to[axis];
    dsts[0][i] = srcs[0][to_element(srcs[0].desc.shape, from)];
  }
}

void gradient(GradientContext& c) {
  const std::vector<int64_t>& permutation = c.attributes().get_ints("permutation");
  std::vector<int64_t> inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  c.set_d_src(0, c.add("transpose", {c.d_dst(0)}, {{"permutation", inverse}}));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  for (int64_t axis : call.attributes.get_ints("permutation"))
    out.push_back({.dst_axis = static_cast<int>(out.size()), .src_axes = {static_cast<int>(axis)}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc src, std::vector<int64_t> permutation) {
    out.push_back(sample_of(std::move(src), {{"permutation", std::move(permutation)}}));
  };
  add(f32_src({}), {});
  add(f32_src({7}), {0});
  add(f32_src({3, 5}), {1, 0});
  add(f32_src({1, 17}), {1, 0});
  add(f32_src({2, 3, 4}), {1, 2, 0});
  add(f32_src({2, 3, 4}), {0, 1, 2});
  add(f32_src({2, 3, 4, 5}), {0, 2, 1, 3});
  add(f32_src({1, 2, 1, 2, 1, 2, 1, 3}), {7, 6, 5, 4, 3, 2, 1, 0});
  add(f32_src({17, 1025}), {1, 0});
  add(f32_src({0, 3}), {1, 0});
  add(i32_src({3, 4}, -9, 9), {1, 0});
  return out;
}

}  // namespace

void define_transpose(OpTable& table) {
  table.add({.name = "transpose",
             .doc = "axis i of dst is axis permutation[i] of src",
             .srcs = {"src"},
             .dsts = {"dst"},
             .attributes = {{.name = "permutation", .example = std::vector<int64_t>{1, 0}}},
             .infer = infer,
             .gradient = gradient,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
