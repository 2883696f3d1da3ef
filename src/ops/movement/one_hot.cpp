// one_hot: a row of zeros with a one where an id says.
#include "ops/expect.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& ids = call.srcs[0];
  const int64_t depth = call.attributes.get_int("depth");
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("one_hot", "ids", ids, DType::kI32));
  if (depth < 1 || ids.shape.rank() == Shape::kMaxRank)
    return invalid_argument("[one_hot] ids is " + to_string(ids) + " and depth " + std::to_string(depth) +
                            "; expected at most " + std::to_string(Shape::kMaxRank - 1) + " axes and depth >= 1");
  Shape shape = ids.shape;
  shape.push_back(depth);
  return std::vector<TensorDesc>{{DType::kF32, shape, {}}};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const int64_t depth = attributes.get_int("depth");
  for (int64_t i = 0; i < srcs[0].numel(); ++i) {
    const auto id = static_cast<int64_t>(srcs[0][i]);
    if (id >= 0 && id < depth) dsts[0][i * depth + id] = 1;
  }
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis < call.srcs[0].shape.rank(); ++axis) out.push_back({.dst_axis = axis, .src_axes = {axis}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](SampleSrc ids, int64_t depth) {
    out.push_back({.srcs = {std::move(ids)}, .attributes = {{"depth", depth}}, .has_gradient = false});
  };
  add(i32_src({}, 0, 3), 3);
  add(i32_src({1}, 0, 1), 1);
  add(i32_src({7}, 0, 17), 17);
  add(i32_src({3, 5}, 0, 7), 7);
  add(i32_src({17}, 0, 1025), 1025);
  add(i32_src({1025}, 0, 7), 7);
  add(i32_src({0, 4}, 0, 3), 3);
  add(exact_src(DType::kI32, {4}, {-1, 2, 3, 100}), 3);  // ids that are no class
  return out;
}

}  // namespace

void define_one_hot(OpTable& table) {
  table.add({.name = "one_hot",
             .doc = "a last axis of depth zeros with a one at each id; an id outside [0, depth) gives zeros",
             .srcs = {"ids"},
             .dsts = {"dst"},
             .attributes = {{.name = "depth", .example = int64_t{10}}},
             .infer = infer,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
