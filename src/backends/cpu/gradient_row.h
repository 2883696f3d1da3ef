// Gradients of elementwise ops over f32 rows; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_GRADIENT_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_GRADIENT_ROW_H
#undef PLIMSOLL_BACKENDS_CPU_GRADIENT_ROW_H
#else
#define PLIMSOLL_BACKENDS_CPU_GRADIENT_ROW_H
#endif

#include "backends/cpu/elementwise_rules.h"
#include "backends/cpu/gelu.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// d_x[i] = the gradient of an op from what it saved and d_y[i], for i in [0, n). d_x may be saved or d_y.
inline void map_gradient(GradientOp op, const float* saved, const float* d_y, float* d_x, int64_t n) {
  const auto each = [&](const auto& f) { map<Run::kAlong, Run::kAlong>(f, saved, d_y, d_x, n); };
  switch (op) {
    case GradientOp::kGelu:
      return each([](F32 d, VF x, VF d_dst) HWY_ATTR { return hn::Mul(d_dst, gelu_slope(d, x, false)); });
    case GradientOp::kGeluTanh:
      return each([](F32 d, VF x, VF d_dst) HWY_ATTR { return hn::Mul(d_dst, gelu_slope(d, x, true)); });
    case GradientOp::kRelu:
      return each([](F32 d, VF y, VF d_dst) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), d_dst); });
    case GradientOp::kSigmoid:
      return each([](F32 d, VF y, VF d_dst)
                      HWY_ATTR { return hn::Mul(d_dst, hn::Mul(y, hn::Sub(hn::Set(d, 1.0f), y))); });
    case GradientOp::kTanh:
      return each([](F32 d, VF y, VF d_dst) HWY_ATTR { return hn::Mul(d_dst, hn::NegMulAdd(y, y, hn::Set(d, 1.0f))); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
