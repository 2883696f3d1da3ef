// layer_norm: each row (last axis) to mean 0 and variance 1, then scaled and shifted; and its gradient.
#include "ops/nn/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

Shape without_last(const Shape& shape) { return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - 1))); }

int64_t rows_of(const Shape& shape) { return shape.numel_between(0, shape.rank() - 1); }

Status check_x(std::string_view op, const TensorDesc& x) {
  PLIMSOLL_RETURN_IF_ERROR(expect_dtype(op, "x", x, DType::kF32));
  if (x.shape.rank() >= 1 && x.shape.at(-1) >= 1) return {};
  return invalid_argument("[" + std::string(op) + "] x is " + to_string(x) + "; expected a last axis of 1 or more");
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  const TensorDesc& x = call.srcs[0];
  PLIMSOLL_RETURN_IF_ERROR(check_x("layer_norm", x));
  const TensorDesc row{DType::kF32, {x.shape.at(-1)}, {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm", "weight", call.srcs[1], row));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm", "bias", call.srcs[2], row));
  const TensorDesc statistic{DType::kF32, without_last(x.shape), {}};
  return std::vector<TensorDesc>{{DType::kF32, x.shape, {}}, statistic, statistic};
}

Result<std::vector<TensorDesc>> infer_grad(const OpCall& call) {
  const TensorDesc& x = call.srcs[0];
  PLIMSOLL_RETURN_IF_ERROR(check_x("layer_norm_grad", x));
  const TensorDesc row{DType::kF32, {x.shape.at(-1)}, {}};
  const TensorDesc statistic{DType::kF32, without_last(x.shape), {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm_grad", "weight", call.srcs[1], row));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm_grad", "mean", call.srcs[2], statistic));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm_grad", "rstd", call.srcs[3], statistic));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("layer_norm_grad", "d_y", call.srcs[4], x));
  return std::vector<TensorDesc>{{DType::kF32, x.shape, {}}, row, row};
}

Cost cost_by_element(const OpCall& call, int64_t flops_an_element) {
  return {.flops = flops_an_element * call.srcs[0].numel(), .bytes = moved_bytes(call)};
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const int64_t d = srcs[1].numel();
  for (int64_t row = 0; row < dsts[1].numel(); ++row) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < d; ++i) mean += srcs[0][row * d + i] / static_cast<double>(d);
    for (int64_t i = 0; i < d; ++i) variance += std::pow(srcs[0][row * d + i] - mean, 2) / static_cast<double>(d);
    const double rstd = 1 / std::sqrt(variance + attributes.get_float("eps"));
    dsts[1][row] = mean;
    dsts[2][row] = rstd;
    for (int64_t i = 0; i < d; ++i) {
      const int64_t at = row * d + i;
      dsts[0][at] = (srcs[0][at] - mean) * rstd * srcs[1][i] + srcs[2][i];
    }
  }
}

/// With h = (x - mean) rstd and g = d_y · weight, averages over the row:
/// d_x = rstd (g - avg(g) - h avg(g h)), d_weight = sum over rows of d_y h, d_bias = sum over rows of d_y.
void evaluate_grad(std::span<const Array> srcs, std::span<Array> dsts, const Attributes&) {
  const Array &x = srcs[0], &weight = srcs[1], &mean = srcs[2], &rstd = srcs[3], &d_y = srcs[4];
  const int64_t d = weight.numel();
  for (int64_t row = 0; row < mean.numel(); ++row) {
    double average_g = 0, average_gh = 0;
    for (int64_t i = 0; i < d; ++i) {
      const int64_t at = row * d + i;
      const double h = (x[at] - mean[row]) * rstd[row];
      average_g += d_y[at] * weight[i] / static_cast<double>(d);
      average_gh += d_y[at] * weight[i] * h / static_cast<double>(d);
      dsts[1][i] += d_y[at] * h;
      dsts[2][i] += d_y[at];
    }
    for (int64_t i = 0; i < d; ++i) {
      const int64_t at = row * d + i;
      const double h = (x[at] - mean[row]) * rstd[row];
      dsts[0][at] = rstd[row] * (d_y[at] * weight[i] - average_g - h * average_gh);
    }
  }
}

void gradient(GradientContext& c) {
  const auto d = c.add_all("layer_norm_grad", {c.src(0), c.src(1), c.dst(1), c.dst(2), c.d_dst(0)}, {}, 3);
  for (size_t i = 0; i < 3; ++i)
    if (c.wants(i)) c.set_d_src(i, d[i]);
}

std::vector<ChunkableAxis> chunkable(const OpCall& call) {
  std::vector<ChunkableAxis> out;
  for (int axis = 0; axis + 1 < call.srcs[0].shape.rank(); ++axis)
    out.push_back({.dst_axis = axis, .src_axes = {axis, -1, -1}});
  return out;
}

int64_t workspace_bound_grad(const OpCall& call) {
  const Shape& shape = call.srcs[0].shape;
  return std::min(kMostLayerNormBlocks, rows_of(shape)) * 2 * shape.at(-1) * static_cast<int64_t>(sizeof(float));
}

const std::vector<Shape> kSmallShapes{{1}, {7}, {1, 1}, {7, 17}, {2, 3, 5}};
const std::vector<Shape> kOtherShapes{{1025}, {17, 1025}, {1025, 7}, {0, 5}, {2, 0, 3}};

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& shape, Attributes attributes, bool has_gradient) {
    const Shape row{shape.at(-1)};
    out.push_back({.srcs = {f32_src(shape, -2, 3), f32_src(row, 0.5, 1.5), f32_src(row)},
                   .attributes = std::move(attributes),
                   .has_gradient = has_gradient});
  };
  for (const Shape& shape : kSmallShapes) add(shape, {}, true);
  add({3, 5}, {{"eps", 0.125}}, true);
  for (const Shape& shape : kOtherShapes) add(shape, {}, false);
  return out;
}

std::vector<Sample> samples_grad() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& shape) {
    const Shape row{shape.at(-1)}, statistic = without_last(shape);
    out.push_back({.srcs = {f32_src(shape), f32_src(row, 0.5, 1.5), f32_src(statistic, -0.5, 0.5),
                            f32_src(statistic, 0.5, 1.5), f32_src(shape)}});
  };
  for (const Shape& shape : kSmallShapes) add(shape);
  for (const Shape& shape : kOtherShapes) add(shape);
  return out;
}

}  // namespace

void define_layer_norm(OpTable& table) {
  table.add({.name = "layer_norm",
             .doc = "y = (x - mean) rstd weight + bias over the last axis, biased variance (Ba et al., 2016); mean and "
                    "rstd carry no gradient",
             .srcs = {"x", "weight", "bias"},
             .dsts = {"y", "mean", "rstd"},
             .attributes = {{.name = "eps", .default_value = 1e-5, .doc = "added to the variance"}},
             .infer = infer,
             .gradient = gradient,
             .saved_dsts = {1, 2},
             .cost = [](const OpCall& call) { return cost_by_element(call, 8); },
             .chunkable = chunkable,
             .evaluate = evaluate,
             .samples = samples});
  table.add({.name = "layer_norm_grad",
             .doc = "Gradients of layer_norm from its saved mean and rstd; weight and bias gradients sum over rows",
             .srcs = {"x", "weight", "mean", "rstd", "d_y"},
             .dsts = {"d_x", "d_weight", "d_bias"},
             .infer = infer_grad,
             .cost = [](const OpCall& call) { return cost_by_element(call, 14); },
             .workspace_bound = workspace_bound_grad,
             .accumulating_dsts = {0, 1, 2},
             .evaluate = evaluate_grad,
             .samples = samples_grad});
}

}  // namespace plimsoll::ops
