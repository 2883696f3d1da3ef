// Chains of elementwise steps over pieces of a value that stay in the first-level cache.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/chain_rows.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/binary_row.h"
#include "backends/cpu/dropout_row.h"
#include "backends/cpu/gradient_row.h"
#include "backends/cpu/unary_row.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void apply_unary(const UnaryRule& rule, const float* src, float* dst, int64_t n) { map_unary(rule, src, dst, n); }

void apply_binary(BinaryOp op, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  map_binary(op, a, a_stays, b, b_stays, dst, n);
}

void apply_gradient(GradientOp op, const float* saved, const float* d_y, float* d_x, int64_t n) {
  map_gradient(op, saved, d_y, d_x, n);
}

void apply_dropout(const DropoutDraw& draw, uint64_t first, const float* x, float* y, int64_t n) {
  drop_row(draw, first, x, y, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/chain_rows.h"
#include "backends/cpu/cut.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(apply_unary);
HWY_EXPORT(apply_binary);
HWY_EXPORT(apply_gradient);
HWY_EXPORT(apply_dropout);

/// The first source of a step that is not the running value.
size_t further_src(const ops::ChainStep& step) {
  for (int src : step.srcs)
    if (src != ops::kRunning) return static_cast<size_t>(src);
  return 0;
}

}  // namespace

ChainRows::ChainRows(const ops::Chain& chain, const program::Kernel& kernel, const TensorDesc& value,
                     ChainPlace place) {
  size_t next_kept = place.first_kept;
  cost_ = kElementwiseCost;
  for (const ops::ChainStep& step : chain.steps) {
    cost_ += kElementwiseCost;
    if (step.op == ops::kKeep) {
      steps_.push_back({.rule = Keep{}, .operand = next_kept++});
      continue;
    }
    Step out{.rule = Keep{}, .operand = place.first_src + further_src(step)};
    const bool is_first = step.srcs[0] == ops::kRunning;
    if (const auto unary = find_unary(step.op, step.attributes)) {
      out.rule = *unary;
    } else if (const auto binary = find_binary(step.op)) {
      out.rule = Binary{*binary, is_first};
    } else if (const auto gradient = find_gradient(step.op, step.attributes)) {
      out.rule = Gradient{*gradient, is_first};
    } else {
      PLIMSOLL_CHECK(step.op == "dropout", "no row function for ", step.op);
      out.rule = Dropout(step.attributes.get_float("p"), step.attributes.get_string("path"), value.numel());
    }
    if (step.srcs.size() > 1) out.period = kernel.srcs[out.operand].numel();
    steps_.push_back(std::move(out));
    last_ = steps_.size();
  }
}

void ChainRows::apply(const LaunchArgs& args, const Run& run) const {
  for (int64_t i = 0; i < run.count; i += kPiece)
    apply_piece(args, {run.x + i, run.dst + i, run.first + i, std::min(kPiece, run.count - i)});
}

/// Only the last step writes to dst, so that dst may be where an earlier step reads.
void ChainRows::apply_piece(const LaunchArgs& args, const Run& piece) const {
  alignas(64) float room[kPiece];
  const auto bytes = static_cast<size_t>(piece.count) * sizeof(float);
  const float* now = piece.x;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (std::holds_alternative<Keep>(step.rule)) {
      float* kept = dst<float>(args, step.operand) + piece.first;
      if (kept != now) std::memcpy(kept, now, bytes);
      continue;
    }
    float* to = i + 1 == last_ ? piece.dst : room;
    apply_step(step, args, {now, to, piece.first, piece.count});
    now = to;
  }
  if (now != piece.dst) std::memcpy(piece.dst, now, bytes);
}

void ChainRows::apply_step(const Step& step, const LaunchArgs& args, const Run& run) {
  if (const auto* unary = std::get_if<UnaryRule>(&step.rule)) {
    HWY_DYNAMIC_DISPATCH(apply_unary)(*unary, run.x, run.dst, run.count);
  } else if (const auto* dropout = std::get_if<Dropout>(&step.rule)) {
    const DropoutDraw draw = dropout->draw(args, step.operand);
    HWY_DYNAMIC_DISPATCH(apply_dropout)
    (draw, draw.first + static_cast<uint64_t>(run.first), run.x, run.dst, run.count);
  } else if (step.period == 1) {
    apply_pairs(step, args, run);
  } else {
    for (int64_t i = 0; i < run.count;) {  // up to where the source begins again
      const int64_t first = run.first + i;
      const int64_t count = std::min(run.count - i, step.period - first % step.period);
      apply_pairs(step, args, {run.x + i, run.dst + i, first, count});
      i += count;
    }
  }
}

void ChainRows::apply_pairs(const Step& step, const LaunchArgs& args, const Run& run) {
  const float* other = src<float>(args, step.operand) + run.first % step.period;
  if (const auto* binary = std::get_if<Binary>(&step.rule)) {
    const bool stays = step.period == 1;
    if (binary->is_left)
      HWY_DYNAMIC_DISPATCH(apply_binary)(binary->op, run.x, false, other, stays, run.dst, run.count);
    else
      HWY_DYNAMIC_DISPATCH(apply_binary)(binary->op, other, stays, run.x, false, run.dst, run.count);
  } else if (const auto* gradient = std::get_if<Gradient>(&step.rule)) {
    const float* saved = gradient->is_saved ? run.x : other;
    const float* d_y = gradient->is_saved ? other : run.x;
    HWY_DYNAMIC_DISPATCH(apply_gradient)(gradient->op, saved, d_y, run.dst, run.count);
  }
}

Status check_chain_operands(const program::Kernel& kernel, const ops::Chain& chain, size_t first_src) {
  std::vector<bool> is_scalar(kernel.srcs.size());
  for (const ops::ChainStep& step : chain.steps)
    for (size_t i = 1; step.op == "dropout" && i < step.srcs.size(); ++i)
      is_scalar[first_src + static_cast<size_t>(step.srcs[i])] = true;
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  for (size_t i = 0; i < kernel.srcs.size(); ++i)
    if (!is_scalar[i] && kernel.srcs[i].dtype != DType::kF32)
      return unsupported("[" + kernel.op + "] src " + std::to_string(i) + " is " + to_string(kernel.srcs[i]) +
                         "; the cpu kernel takes f32");
  return {};
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
