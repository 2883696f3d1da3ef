// linear_cross_entropy: projection to classes and cross-entropy as one op, so that the logits never exist in full.
#include <algorithm>

#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/loss/cross_entropy_rules.h"
#include "ops/loss/logits_chunk.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kX, kWeight, kTargets, kInvValid, kBias };

const TensorDesc kNumber{DType::kF32, {}, {}};

struct Sizes {
  int64_t rows = 0, classes = 0, width = 0;
};

Sizes sizes_of(const Shape& x, const Shape& weight) { return {.rows = x[0], .classes = weight[0], .width = x[1]}; }

Status check_call(std::string_view op, const OpCall& call) {
  const TensorDesc &x = call.srcs[kX], &weight = call.srcs[kWeight];
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, "x", x, DType::kF32, 2, "[N,d]"));
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, "weight", weight, DType::kF32, 2, "[V,d]"));
  const Sizes sizes = sizes_of(x.shape, weight.shape);
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "weight", weight, {DType::kF32, {sizes.classes, sizes.width}, {}}));
  if (sizes.classes < 1)
    return invalid_argument("[" + std::string(op) + "] weight is " + to_string(weight) +
                            "; expected one class or more");
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "targets", call.srcs[kTargets], {DType::kI32, {sizes.rows}, {}}));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "inv_valid", call.srcs[kInvValid], kNumber));
  if (call.srcs.size() > kBias)
    PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "bias", call.srcs[kBias], {DType::kF32, {sizes.classes}, {}}));
  if (const int64_t rows = call.attributes.get_int("chunk_rows"); rows < 0)
    return invalid_argument("[" + std::string(op) + "] chunk_rows is " + std::to_string(rows) +
                            "; expected 0 (by shape) or more");
  return check_cross_entropy_options(op, call.attributes);
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_call("linear_cross_entropy", call));
  return std::vector<TensorDesc>{kNumber};
}

Result<std::vector<TensorDesc>> infer_with_grad(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_call("linear_cross_entropy_with_grad", call));
  std::vector<TensorDesc> dsts{kNumber, call.srcs[kX], call.srcs[kWeight]};
  if (call.srcs.size() > kBias) dsts.push_back(call.srcs[kBias]);
  return dsts;
}

/// `products` matrix products of rows × classes × width, and a few operations a logit.
Cost cost_by_product(const OpCall& call, int64_t products) {
  const Sizes sizes = sizes_of(call.srcs[kX].shape, call.srcs[kWeight].shape);
  return {.flops = sizes.rows * sizes.classes * (2 * products * sizes.width + 8), .bytes = moved_bytes(call)};
}

/// What a matrix library may ask for beside the operands of a product.
constexpr int64_t kProductScratchBytes = int64_t{4} << 20;

/// One chunk of logits, which its gradient overwrites, and two f64 numbers a row (loss and log-sum-exp).
int64_t workspace_bound(const OpCall& call) {
  const Sizes sizes = sizes_of(call.srcs[kX].shape, call.srcs[kWeight].shape);
  const int64_t chunk = logits_chunk_rows(sizes.rows, sizes.classes, call.attributes.get_int("chunk_rows"));
  return chunk * sizes.classes * int64_t{sizeof(float)} + sizes.rows * int64_t{2 * sizeof(double)} +
         kProductScratchBytes;
}

std::vector<double> logits_of_row(std::span<const Array> srcs, int64_t row) {
  const Sizes sizes = sizes_of(srcs[kX].desc.shape, srcs[kWeight].desc.shape);
  std::vector<double> logits(static_cast<size_t>(sizes.classes));
  for (int64_t c = 0; c < sizes.classes; ++c) {
    double sum = srcs.size() > kBias ? srcs[kBias][c] : 0;
    for (int64_t i = 0; i < sizes.width; ++i)
      sum += srcs[kX][row * sizes.width + i] * srcs[kWeight][c * sizes.width + i];
    logits[static_cast<size_t>(c)] = sum;
  }
  return logits;
}

/// Adds one row's products to d_x, d_weight and d_bias.
void add_row_gradient(std::span<const Array> srcs, std::span<Array> dsts, int64_t row,
                      std::span<const double> d_logits) {
  const int64_t width = srcs[kX].desc.shape[1];
  for (int64_t c = 0; c < std::ssize(d_logits); ++c) {
    const double d = d_logits[static_cast<size_t>(c)];
    for (int64_t i = 0; i < width; ++i) {
      dsts[1][row * width + i] += d * srcs[kWeight][c * width + i];
      dsts[2][c * width + i] += d * srcs[kX][row * width + i];
    }
    if (dsts.size() > 3) dsts[3][c] += d;
  }
}

/// Gradients too where there is room for them in `dsts`.
void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const CrossEntropyOptions options = cross_entropy_options(attributes);
  for (int64_t row = 0; row < srcs[kTargets].numel(); ++row) {
    const auto target = static_cast<int64_t>(srcs[kTargets][row]);
    if (!is_valid_target(target, srcs[kWeight].desc.shape[0], options.ignore_index)) continue;
    std::vector<double> logits = logits_of_row(srcs, row);
    const double lse = log_sum_exp(logits);
    dsts[0][0] += row_loss(logits, lse, target, options.label_smoothing) * srcs[kInvValid][0];
    if (dsts.size() == 1) continue;
    row_gradient(logits, lse, target, options.label_smoothing, srcs[kInvValid][0], logits);
    add_row_gradient(srcs, dsts, row, logits);
  }
}

/// The gradients come out of the forward pass itself where the loss is what differentiation starts from; elsewhere the
/// pass is run again, and its gradients are multiplied by d_loss, of which the user is told.
void gradient(GradientContext& c) {
  const bool has_bias = c.src_count() > kBias;
  // The loss is proportional to inv_valid.
  if (c.wants(kInvValid))
    c.set_d_src(kInvValid, c.add("multiply", {c.d_dst(0), c.add("divide", {c.dst(0), c.src(kInvValid)})}));
  if (!c.wants(kX) && !c.wants(kWeight) && !c.wants(kBias)) return;
  std::vector<graph::ValueId> d;
  if (c.is_loss_root()) {
    d = c.replace("linear_cross_entropy_with_grad", Attributes(c.attributes()));
  } else {
    c.note(
        "runs twice a step, once for the loss and once for its gradients: the loss that is trained on is neither its "
        "output nor a sum with it");
    std::vector<graph::ValueId> srcs;
    for (size_t i = 0; i < c.src_count(); ++i) srcs.push_back(c.src(i));
    d = c.add_all("linear_cross_entropy_with_grad", srcs, c.attributes(), has_bias ? 4 : 3);
    d.erase(d.begin());
    for (graph::ValueId& one : d) one = c.add("multiply", {one, c.d_dst(0)});
  }
  if (c.wants(kX)) c.set_d_src(kX, d[0]);
  if (c.wants(kWeight)) c.set_d_src(kWeight, d[1]);
  if (c.wants(kBias)) c.set_d_src(kBias, d[2]);
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Sizes& s, bool has_bias, const std::vector<double>& targets, Attributes attributes = {}) {
    Sample sample{.srcs = {f32_src({s.rows, s.width}), f32_src({s.classes, s.width}),
                           targets.empty() ? i32_src({s.rows}, 0, 1) : exact_src(DType::kI32, {s.rows}, targets),
                           scalar_src(DType::kF32, 0.25)},
                  .attributes = std::move(attributes),
                  .has_gradient = s.rows * s.classes * s.width < 500};
    if (has_bias) sample.srcs.push_back(f32_src({s.classes}));
    out.push_back(sample);
  };
  const std::vector<Sizes> sizes{{1, 1, 1}, {1, 7, 3}, {7, 5, 4}, {17, 7, 1}, {0, 3, 2}, {3, 4, 0}};
  for (const bool has_bias : {false, true}) {
    for (const double smoothing : {0.0, 0.125, 1.0})
      for (const Sizes& s : sizes)
        add(s, has_bias, sample_targets(s.rows, s.classes, -100), {{"label_smoothing", smoothing}});
    for (const int64_t chunk : {1, 3, 7, 100})
      add({7, 5, 4}, has_bias, sample_targets(7, 5, -100), {{"chunk_rows", chunk}});
    add({7, 5, 4}, has_bias, sample_targets(7, 5, 3), {{"ignore_index", int64_t{3}}});
    add({3, 5, 2}, has_bias, {-100, -100, -100});  // all ignored
    add({3, 5, 2}, has_bias, {5, -1, 1 << 30});    // none is a class
    add({17, 1025, 7}, has_bias, sample_targets(17, 1025, -100));
    add({1025, 17, 7}, has_bias, sample_targets(1025, 17, -100), {{"chunk_rows", int64_t{256}}});
  }
  return out;
}

std::vector<AttributeDef> attributes() {
  std::vector<AttributeDef> out = cross_entropy_attributes();
  out.push_back({.name = "chunk_rows", .default_value = int64_t{0}, .doc = "rows of logits at a time; 0: by shape"});
  return out;
}

}  // namespace

void define_linear_cross_entropy(OpTable& table) {
  table.add({.name = "linear_cross_entropy",
             .doc = "cross_entropy of x · weightᵀ + bias in chunks of rows, so that the logits never exist in full",
             .srcs = {"x", "weight", "targets", "inv_valid", "bias"},
             .dsts = {"loss"},
             .optional_srcs = 1,
             .attributes = attributes(),
             .infer = infer,
             .gradient = gradient,
             .given_srcs = {kInvValid},
             .cost = [](const OpCall& call) { return cost_by_product(call, 1); },
             .workspace_bound = workspace_bound,
             .evaluate = evaluate,
             .samples = samples});
  table.add({.name = "linear_cross_entropy_with_grad",
             .doc = "linear_cross_entropy and its gradients, for d_loss = 1, in one pass over the chunks",
             .srcs = {"x", "weight", "targets", "inv_valid", "bias"},
             .dsts = {"loss", "d_x", "d_weight", "d_bias"},
             .optional_srcs = 1,
             .attributes = attributes(),
             .infer = infer_with_grad,
             .cost = [](const OpCall& call) { return cost_by_product(call, 3); },
             .workspace_bound = workspace_bound,
             .accumulating_dsts = {2, 3},
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
