// Cross-entropy of one row of logits and its gradient; included once per instruction set like simd.h.
#ifndef PLIMSOLL_BACKENDS_CPU_CLASS_LOSS
#define PLIMSOLL_BACKENDS_CPU_CLASS_LOSS
#include <cstdint>

#include "core/attributes.h"
#include "ops/loss/cross_entropy_rules.h"

namespace plimsoll::backends::cpu {

/// What a loss over classes was prepared with.
struct ClassLoss {
  int64_t classes = 0;
  int64_t ignore_index = 0;
  float smoothing = 0;  ///< so much of the target's weight is spread over all classes

  /// False where the row has no loss: the target says so, or is no class.
  bool counts(int32_t target) const { return ops::is_valid_target(target, classes, ignore_index); }
};

inline ClassLoss make_class_loss(const Attributes& attributes, int64_t classes) {
  return {.classes = classes,
          .ignore_index = attributes.get_int("ignore_index"),
          .smoothing = static_cast<float>(attributes.get_float("label_smoothing"))};
}

}  // namespace plimsoll::backends::cpu
#endif

#if defined(PLIMSOLL_BACKENDS_CPU_CROSS_ENTROPY_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_CROSS_ENTROPY_ROW_H
#undef PLIMSOLL_BACKENDS_CPU_CROSS_ENTROPY_ROW_H
#else
#define PLIMSOLL_BACKENDS_CPU_CROSS_ENTROPY_ROW_H
#endif

#include <cmath>
#include <cstring>

#include "backends/cpu/row_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// log Σ e^logit
inline float log_sum_exp(const float* logits, int64_t n) {
  const float top = row_max(logits, n);
  return top + std::log(exp_sum(logits, n, top));
}

/// -Σ q log p, where q is the target's distribution after smoothing (Szegedy et al., 2016, section 7). 0 for a row that
/// does not count.
inline float row_loss(const ClassLoss& loss, const float* logits, int32_t target, float lse) {
  if (!loss.counts(target)) return 0;
  const float hard = lse - logits[target];
  if (loss.smoothing == 0) return hard;
  const float mean = row_sum(logits, loss.classes) / static_cast<float>(loss.classes);
  return (1 - loss.smoothing) * hard + loss.smoothing * (lse - mean);
}

/// d_logits = scale · (p - q), 0 for a row that does not count. d_logits may be logits.
inline void row_loss_grad(const ClassLoss& loss, const float* logits, int32_t target, float lse, float scale,
                          float* d_logits) {
  if (!loss.counts(target)) {
    std::memset(d_logits, 0, static_cast<size_t>(loss.classes) * sizeof(float));
    return;
  }
  const float spread = loss.smoothing / static_cast<float>(loss.classes) * scale;
  map(
      [=](F32 d, VF x) {
        return hn::MulSub(exp_below_88(d, hn::Sub(x, hn::Set(d, lse))), hn::Set(d, scale), hn::Set(d, spread));
      },
      logits, d_logits, loss.classes);
  d_logits[target] -= (1 - loss.smoothing) * scale;
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
