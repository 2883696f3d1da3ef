// cross_entropy: of logits and class ids, summed over valid rows; and its gradient.
#include "ops/expect.h"
#include "ops/gradient.h"
#include "ops/loss/cross_entropy_rules.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"
#include "ops/workspace.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kLogits, kTargets, kInvValid, kLse, kDLoss };

const TensorDesc kNumber{DType::kF32, {}, {}};

Status check_srcs(std::string_view op, const OpCall& call) {
  const TensorDesc& logits = call.srcs[kLogits];
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, "logits", logits, DType::kF32, 2, "[N,V]"));
  if (logits.shape[1] < 1)
    return invalid_argument("[" + std::string(op) + "] logits is " + to_string(logits) +
                            "; expected one class or more");
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "targets", call.srcs[kTargets], {DType::kI32, {logits.shape[0]}, {}}));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "inv_valid", call.srcs[kInvValid], kNumber));
  return check_cross_entropy_options(op, call.attributes);
}

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_srcs("cross_entropy", call));
  return std::vector<TensorDesc>{kNumber, {DType::kF32, {call.srcs[kLogits].shape[0]}, {}}};
}

Result<std::vector<TensorDesc>> infer_grad(const OpCall& call) {
  const std::string op = "cross_entropy_grad";
  PLIMSOLL_RETURN_IF_ERROR(check_srcs(op, call));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "lse", call.srcs[kLse], {DType::kF32, {call.srcs[kLogits].shape[0]}, {}}));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, "d_loss", call.srcs[kDLoss], kNumber));
  return std::vector<TensorDesc>{call.srcs[kLogits]};
}

Cost cost_by_logit(const OpCall& call, int64_t flops_a_logit) {
  return {.flops = flops_a_logit * call.srcs[kLogits].numel(), .bytes = moved_bytes(call)};
}

std::span<const double> row_of(const Array& logits, int64_t row) {
  const auto classes = static_cast<size_t>(logits.desc.shape[1]);
  return std::span(logits.data).subspan(static_cast<size_t>(row) * classes, classes);
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const CrossEntropyOptions options = cross_entropy_options(attributes);
  for (int64_t row = 0; row < srcs[kTargets].numel(); ++row) {
    const auto logits = row_of(srcs[kLogits], row);
    const auto target = static_cast<int64_t>(srcs[kTargets][row]);
    const double lse = dsts[1][row] = log_sum_exp(logits);
    if (is_valid_target(target, std::ssize(logits), options.ignore_index))
      dsts[0][0] += row_loss(logits, lse, target, options.label_smoothing) * srcs[kInvValid][0];
  }
}

void evaluate_grad(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const CrossEntropyOptions options = cross_entropy_options(attributes);
  for (int64_t row = 0; row < srcs[kTargets].numel(); ++row) {
    const auto logits = row_of(srcs[kLogits], row);
    const auto target = static_cast<int64_t>(srcs[kTargets][row]);
    if (!is_valid_target(target, std::ssize(logits), options.ignore_index)) continue;
    row_gradient(logits, srcs[kLse][row], target, options.label_smoothing, srcs[kInvValid][0] * srcs[kDLoss][0],
                 std::span(dsts[0].data).subspan(static_cast<size_t>(row) * logits.size(), logits.size()));
  }
}

void gradient(GradientContext& c) {
  if (c.wants(kLogits))
    c.set_d_src(kLogits,
                c.add("cross_entropy_grad", {c.src(kLogits), c.src(kTargets), c.src(kInvValid), c.dst(1), c.d_dst(0)},
                      c.attributes()));
  // The loss is proportional to inv_valid.
  if (c.wants(kInvValid))
    c.set_d_src(kInvValid, c.add("multiply", {c.d_dst(0), c.add("divide", {c.dst(0), c.src(kInvValid)})}));
}

std::vector<Sample> make_samples(bool for_grad) {
  std::vector<Sample> out;
  const auto add = [&](int64_t rows, int64_t classes, const std::vector<double>& targets, Attributes attributes = {}) {
    Sample sample{.srcs = {f32_src({rows, classes}, -3, 3),
                           targets.empty() ? i32_src({rows}, 0, 1) : exact_src(DType::kI32, {rows}, targets),
                           scalar_src(DType::kF32, 0.25)},
                  .attributes = std::move(attributes),
                  .has_gradient = rows * classes < 200};
    // Large enough that no probability exceeds 1.
    if (for_grad) sample.srcs.insert(sample.srcs.end(), {f32_src({rows}, 3, 4), scalar_src(DType::kF32, 0.5)});
    out.push_back(sample);
  };
  for (const double smoothing : {0.0, 0.125, 1.0})
    for (const auto& [rows, classes] : {std::pair{1, 1}, {1, 7}, {7, 3}, {17, 7}, {7, 1025}, {1025, 17}, {0, 3}})
      add(rows, classes, sample_targets(rows, classes, -100), {{"label_smoothing", smoothing}});
  add(7, 5, sample_targets(7, 5, 3), {{"ignore_index", int64_t{3}}});
  add(3, 5, {-100, -100, -100});  // all ignored
  add(3, 5, {5, -1, 1 << 30});    // none is a class
  return out;
}

}  // namespace

void define_cross_entropy(OpTable& table) {
  table.add({.name = "cross_entropy",
             .doc = "loss = inv_valid · sum over valid rows of -log softmax(logits)[target], with label smoothing "
                    "(Szegedy et al., CVPR 2016); lse of every row for the gradient",
             .srcs = {"logits", "targets", "inv_valid"},
             .dsts = {"loss", "lse"},
             .attributes = cross_entropy_attributes(),
             .infer = infer,
             .gradient = gradient,
             .given_srcs = {kInvValid},
             .saved_dsts = {1},
             .cost = [](const OpCall& call) { return cost_by_logit(call, 4); },
             .workspace_bound = [](const OpCall& call) { return partial_sum_bytes(call.srcs[kTargets].numel()); },
             .evaluate = evaluate,
             .samples = [] { return make_samples(false); }});
  table.add({.name = "cross_entropy_grad",
             .doc = "d_logits of cross_entropy from its saved lse; rows that do not count are 0",
             .srcs = {"logits", "targets", "inv_valid", "lse", "d_loss"},
             .dsts = {"d_logits"},
             .attributes = cross_entropy_attributes(),
             .infer = infer_grad,
             .cost = [](const OpCall& call) { return cost_by_logit(call, 4); },
             .aliases = [](const OpCall&) { return std::vector<Alias>{{.dst = 0, .src = kLogits}}; },
             .chunkable =
                 [](const OpCall&) {
                   return std::vector<ChunkableAxis>{{.dst_axis = 0, .src_axes = {0, 0, -1, 0, -1}}};
                 },
             .evaluate = evaluate_grad,
             .samples = [] { return make_samples(true); }});
}

}  // namespace plimsoll::ops
