// embedding: rows of a table by id; and its gradient, row by row.
#include <algorithm>

#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(expect_axes("embedding", "weight", call.srcs[0], DType::kF32, 2, "[V,d]"));
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("embedding", "ids", call.srcs[1], DType::kI32));
  Shape shape = call.srcs[1].shape;
  if (shape.rank() == Shape::kMaxRank)
    return invalid_argument("[embedding] ids is " + to_string(call.srcs[1]) + "; expected at most " +
                            std::to_string(Shape::kMaxRank - 1) + " axes");
  shape.push_back(call.srcs[0].shape[1]);
  return std::vector<TensorDesc>{{DType::kF32, shape, {}}};
}

Result<std::vector<TensorDesc>> infer_grad(const OpCall& call) {
  const TensorDesc &ids = call.srcs[0], &d_y = call.srcs[1];
  const int64_t rows = call.attributes.get_int("rows");
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype("embedding_grad", "ids", ids, DType::kI32));
  if (rows < 0) return invalid_argument("[embedding_grad] rows is " + std::to_string(rows) + "; expected 0 or more");
  if (d_y.shape.rank() < 1 || ids.shape.rank() == Shape::kMaxRank)
    return invalid_argument("[embedding_grad] d_y is " + to_string(d_y) + "; expected the shape of ids " +
                            to_string(ids) + " and one axis more");
  Shape shape = ids.shape;
  shape.push_back(d_y.shape.at(-1));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("embedding_grad", "d_y", d_y, {DType::kF32, shape, {}}));
  return std::vector<TensorDesc>{{DType::kF32, {rows, d_y.shape.at(-1)}, {}}};
}

/// Only the rows that are asked for move.
Cost cost(const OpCall& call) { return {.bytes = call.srcs[1].size_bytes() + 2 * call.dsts[0].size_bytes()}; }

Cost cost_grad(const OpCall& call) {
  return {.flops = call.srcs[1].numel(),
          .bytes = call.srcs[0].size_bytes() + call.srcs[1].size_bytes() + call.dsts[0].size_bytes()};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const int64_t rows = srcs[0].desc.shape[0], d = srcs[0].desc.shape[1];
  for (int64_t i = 0; i < srcs[1].numel(); ++i) {
    const auto id = static_cast<int64_t>(srcs[1][i]);
    for (int64_t j = 0; j < d && id >= 0 && id < rows; ++j) dsts[0][i * d + j] = srcs[0][id * d + j];
  }
}

void evaluate_grad(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const int64_t rows = dsts[0].desc.shape[0], d = dsts[0].desc.shape[1];
  for (int64_t i = 0; i < srcs[0].numel(); ++i) {
    const auto id = static_cast<int64_t>(srcs[0][i]);
    for (int64_t j = 0; j < d && id >= 0 && id < rows; ++j) dsts[0][id * d + j] += srcs[1][i * d + j];
  }
}

void gradient(GradientContext& c) {
  if (c.wants(0)) c.set_d_src(0, c.add("embedding_grad", {c.src(1), c.d_dst(0)}, {{"rows", c.src_desc(0).shape[0]}}));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  const int rank = call.srcs[1].shape.rank();
  for (int axis = 0; axis < rank; ++axis) out.push_back({.dst_axis = axis, .src_axes = {-1, axis}});
  out.push_back({.dst_axis = rank, .src_axes = {1, -1}});
  return out;
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Shape& ids : {Shape{}, Shape{1}, Shape{7}, Shape{2, 3}, Shape{2, 0}})
    out.push_back({.srcs = {f32_src({5, 3}), i32_src(ids, 0, 5)}});
  out.push_back({.srcs = {f32_src({5, 1}), exact_src(DType::kI32, {4}, {2, 2, 0, 2})}});    // repeated ids add up
  out.push_back({.srcs = {f32_src({5, 3}), exact_src(DType::kI32, {4}, {-1, 4, 5, -9})}});  // not in the table
  out.push_back({.srcs = {f32_src({1025, 17}), i32_src({1025}, 0, 1025)}, .has_gradient = false});
  out.push_back({.srcs = {f32_src({17, 1025}), i32_src({7}, 0, 17)}, .has_gradient = false});
  return out;
}

std::vector<Sample> samples_grad() {
  std::vector<Sample> out;
  for (const Shape& ids : {Shape{}, Shape{1}, Shape{7}, Shape{2, 3}, Shape{2, 0}}) {
    Shape d_y = ids;
    d_y.push_back(3);
    out.push_back({.srcs = {i32_src(ids, 0, 5), f32_src(d_y)}, .attributes = {{"rows", int64_t{5}}}});
  }
  out.push_back(
      {.srcs = {exact_src(DType::kI32, {4}, {-1, 4, 5, 4}), f32_src({4, 17})}, .attributes = {{"rows", int64_t{5}}}});
  out.push_back({.srcs = {i32_src({1025}, 0, 17), f32_src({1025, 7})}, .attributes = {{"rows", int64_t{17}}}});
  out.push_back({.srcs = {i32_src({7}, 0, 1025), f32_src({7, 1025})}, .attributes = {{"rows", int64_t{1025}}}});
  return out;
}

}  // namespace

void define_embedding(OpTable& table) {
  table.add({.name = "embedding",
             .doc = "The rows of weight that ids name; an id that is no row gives zeros",
             .srcs = {"weight", "ids"},
             .dsts = {"dst"},
             .infer = infer,
             .gradient = gradient,
             .cost = cost,
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
  table.add({.name = "embedding_grad",
             .doc = "Adds row i of d_y to row ids[i] of d_weight; repeated ids add in the order of i",
             .srcs = {"ids", "d_y"},
             .dsts = {"d_weight"},
             .attributes = {{.name = "rows", .doc = "rows of the table", .example = int64_t{1}}},
             .infer = infer_grad,
             .cost = cost_grad,
             // Columns: a piece of them is the same sums.
             .chunkable =
                 [](const OpCall& call) {
                   return std::vector<ChunkableAxis>{{.dst_axis = 1, .src_axes = {-1, call.srcs[0].shape.rank()}}};
                 },
             .accumulating_dsts = {0},
             .evaluate = evaluate_grad,
             .samples = samples_grad});
}

}  // namespace plimsoll::ops
