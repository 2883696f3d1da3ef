// matmul: batched matrix product with optional transposes and bias.
#include "ops/nn/matmul.h"

#include "ops/gradient.h"
#include "ops/infer_rules.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"
#include "ops/workspace.h"

namespace plimsoll::ops {
namespace {

/// The sizes of one product: batch extents broadcast, then dst[m,n] = sum over k.
struct Sizes {
  Shape batch;
  int64_t m = 0, n = 0, k = 0;
};

Result<Sizes> try_sizes(std::span<const TensorDesc> srcs, const Attributes& attributes) {
  const Shape& a = srcs[0].shape;
  const Shape& b = srcs[1].shape;
  const auto refusal = [&](const std::string& what) {
    return invalid_argument("[matmul] " + what + "; given a " + to_string(srcs[0]) + ", b " + to_string(srcs[1]));
  };
  if (a.rank() < 2 || b.rank() < 2) return refusal("both inputs need two or more axes");
  const bool transpose_a = attributes.get_bool("transpose_a");
  const bool transpose_b = attributes.get_bool("transpose_b");
  Sizes out;
  out.m = a.at(transpose_a ? -1 : -2);
  out.k = a.at(transpose_a ? -2 : -1);
  out.n = b.at(transpose_b ? -2 : -1);
  if (b.at(transpose_b ? -1 : -2) != out.k) return refusal("the inner sizes differ");
  const auto batch = try_broadcast(Shape(a.dims().first(static_cast<size_t>(a.rank() - 2))),
                                   Shape(b.dims().first(static_cast<size_t>(b.rank() - 2))));
  if (!batch) return refusal("the batch sizes do not broadcast");
  out.batch = *batch;
  return out;
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_ASSIGN(const Sizes sizes, try_sizes(call.srcs, call.attributes));
  if (!is_floating(call.srcs[0].dtype) || call.srcs[0].dtype != call.srcs[1].dtype)
    return invalid_argument("[matmul] needs two inputs of one floating type; given a " + to_string(call.srcs[0]) +
                            ", b " + to_string(call.srcs[1]));
  if (call.srcs.size() == 3 && call.srcs[2].shape != Shape{sizes.n})
    return invalid_argument("[matmul] bias is " + to_string(call.srcs[2]) + "; expected [" + std::to_string(sizes.n) +
                            "]");
  Shape shape = sizes.batch;
  if (shape.rank() + 2 > Shape::kMaxRank) return invalid_argument("[matmul] too many axes");
  shape.push_back(sizes.m);
  shape.push_back(sizes.n);
  return std::vector<TensorDesc>{{call.srcs[0].dtype, shape, {}}};
}

Cost cost(const OpCall& call) {
  const Sizes sizes = *try_sizes(call.srcs, call.attributes);
  return {.flops = 2 * sizes.batch.numel() * sizes.m * sizes.n * sizes.k, .bytes = moved_bytes(call)};
}

/// Panels of the operands, for as many tasks as may run at once.
int64_t workspace_bound(const OpCall& call) {
  const int64_t k = try_sizes(call.srcs, call.attributes)->k;
  return kMostTasks * matmul_panel_numel(k) * static_cast<int64_t>(sizeof(float));
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const std::vector<TensorDesc> descs{srcs[0].desc, srcs[1].desc};
  const Sizes sizes = *try_sizes(descs, attributes);
  const bool transpose_a = attributes.get_bool("transpose_a");
  const bool transpose_b = attributes.get_bool("transpose_b");
  const auto offsets_a = batch_offsets(dsts[0].desc.shape, srcs[0].desc.shape);
  const auto offsets_b = batch_offsets(dsts[0].desc.shape, srcs[1].desc.shape);
  for (int64_t batch = 0; batch < std::ssize(offsets_a); ++batch) {
    const int64_t a = offsets_a[static_cast<size_t>(batch)];
    const int64_t b = offsets_b[static_cast<size_t>(batch)];
    for (int64_t i = 0; i < sizes.m; ++i) {
      for (int64_t j = 0; j < sizes.n; ++j) {
        double sum = srcs.size() == 3 ? srcs[2][j] : 0;
        for (int64_t l = 0; l < sizes.k; ++l)
          sum += srcs[0][a + (transpose_a ? l * sizes.m + i : i * sizes.k + l)] *
                 srcs[1][b + (transpose_b ? j * sizes.k + l : l * sizes.n + j)];
        dsts[0][(batch * sizes.m + i) * sizes.n + j] = sum;
      }
    }
  }
}

/// With rows of all leading axes folded into one when b has no batch, so that a weight gradient is one product.
graph::ValueId as_rows(GradientContext& c, graph::ValueId value, const Shape& shape) {
  return c.add("reshape", {value}, {{"shape", to_ints({shape.numel_between(0, shape.rank() - 1), shape.at(-1)})}});
}

/// d_a = d · bᵀ and d_b = aᵀ · d, with the operands swapped where they came transposed (Goodfellow et al., Deep
/// Learning, 2016, section 6.5).
void gradient(GradientContext& c) {
  const bool transpose_a = c.attributes().get_bool("transpose_a");
  const bool transpose_b = c.attributes().get_bool("transpose_b");
  const graph::ValueId a = c.src(0), b = c.src(1), d = c.d_dst(0);
  const auto product = [&](graph::ValueId x, graph::ValueId y, bool tx, bool ty) {
    return c.add("matmul", {x, y}, {{"transpose_a", tx}, {"transpose_b", ty}});
  };
  if (c.wants(0)) {
    const auto d_a = transpose_a ? product(b, d, transpose_b, true) : product(d, b, false, !transpose_b);
    c.set_d_src(0, c.sum_to(d_a, c.src_desc(0).shape));
  }
  if (c.wants(1)) {
    const bool is_weight = c.src_desc(1).shape.rank() == 2 && c.src_desc(0).shape.rank() > 2 && !transpose_a;
    const auto rows_a = is_weight ? as_rows(c, a, c.src_desc(0).shape) : a;
    const auto rows_d = is_weight ? as_rows(c, d, c.dst_desc(0).shape) : d;
    const auto d_b =
        transpose_b ? product(rows_d, rows_a, true, transpose_a) : product(rows_a, rows_d, !transpose_a, false);
    c.set_d_src(1, c.sum_to(d_b, c.src_desc(1).shape));
  }
  if (c.wants(2)) c.set_d_src(2, c.sum_to(d, c.src_desc(2).shape));
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  // Rows of a, where a is not transposed and b has no batch of its own.
  if (call.attributes.get_bool("transpose_a") || call.srcs[1].shape.rank() != 2) return {};
  ChunkableAxis rows{.dst_axis = call.dsts[0].shape.rank() - 2, .src_axes = {call.srcs[0].shape.rank() - 2, -1}};
  if (call.srcs.size() == 3) rows.src_axes.push_back(-1);
  return {rows};
}

std::vector<Sample> samples() {
  const auto f32 = [](const Shape& shape) { return f32_src(shape); };
  std::vector<Sample> out;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const bool bias : {false, true}) {
        Sample sample{.srcs = {f32(ta ? Shape{5, 7} : Shape{7, 5}), f32(tb ? Shape{3, 5} : Shape{5, 3})},
                      .attributes = {{"transpose_a", ta}, {"transpose_b", tb}}};
        if (bias) sample.srcs.push_back(f32({3}));
        out.push_back(sample);
      }
  out.push_back({.srcs = {f32({2, 3, 4, 5}), f32({3, 5, 6})}});  // batch broadcast
  out.push_back({.srcs = {f32({2, 1, 4, 5}), f32({2, 3, 6, 5})}, .attributes = {{"transpose_b", true}}});
  out.push_back({.srcs = {f32({4, 3, 5}), f32({5, 6}), f32({6})}});  // a weight for all rows
  out.push_back({.srcs = {f32({1, 1}), f32({1, 1})}});
  out.push_back({.srcs = {f32({17, 1025}), f32({1025, 7})}, .has_gradient = false});
  out.push_back(
      {.srcs = {f32({1025, 17}), f32({7, 17})}, .attributes = {{"transpose_b", true}}, .has_gradient = false});
  // One more than a panel's columns and depth, and enough rows for copies of both operands.
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      out.push_back({.srcs = {f32_src(ta ? Shape{1025, 49} : Shape{49, 1025}, -0.5, 0.5),
                              f32_src(tb ? Shape{193, 1025} : Shape{1025, 193}, -0.5, 0.5)},
                     .attributes = {{"transpose_a", ta}, {"transpose_b", tb}},
                     .has_gradient = false});
  out.push_back({.srcs = {f32({0, 5}), f32({5, 3})}, .has_gradient = false});  // empty
  out.push_back({.srcs = {f32({4, 0}), f32({0, 3})}, .has_gradient = false});  // an empty sum is zero
  return out;
}

}  // namespace

void define_matmul(OpTable& table);

std::vector<int64_t> batch_offsets(const Shape& dst, const Shape& operand) {
  std::vector<int64_t> out(static_cast<size_t>(dst.numel_between(0, dst.rank() - 2)));
  for (size_t i = 0; i < out.size(); ++i) {
    auto index = static_cast<int64_t>(i);
    int64_t stride = operand.at(-1) * operand.at(-2);
    for (int axis = 3; axis <= operand.rank(); ++axis) {
      const int64_t extent = operand.at(-axis);
      if (extent != 1) out[i] += index % dst.at(-axis) * stride;
      index /= dst.at(-axis);
      stride *= extent;
    }
  }
  return out;
}

const OpDef& matmul_def() {
  static const OpTable kTable = [] {
    OpTable table;
    define_matmul(table);
    return table;
  }();
  return kTable.at("matmul");
}

void define_matmul(OpTable& table) {
  table.add(
      {.name = "matmul",
       .doc = "dst = op(a) · op(b) + bias over broadcast batches; op transposes the last two axes",
       .srcs = {"a", "b", "bias"},
       .dsts = {"dst"},
       .optional_srcs = 1,
       .attributes = {{.name = "transpose_a", .default_value = false}, {.name = "transpose_b", .default_value = false}},
       .infer = infer,
       .gradient = gradient,
       .cost = cost,
       .workspace_bound = workspace_bound,
       .chunkable = chunkable,
       .accumulating_dsts = {0},
       .evaluate = evaluate,
       .samples = samples});
}

}  // namespace plimsoll::ops
