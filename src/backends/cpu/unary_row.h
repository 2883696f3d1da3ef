// Elementwise ops of one f32 row; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_UNARY_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_UNARY_ROW_H
#undef PLIMSOLL_BACKENDS_CPU_UNARY_ROW_H
#else
#define PLIMSOLL_BACKENDS_CPU_UNARY_ROW_H
#endif

#include "backends/cpu/elementwise_rules.h"
#include "backends/cpu/gelu.h"
#include "backends/cpu/simd_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

inline VF sign(F32 d, VF x) {
  const VF size = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), hn::Set(d, 1.0f));
  return keep_nan(x, hn::CopySign(size, x));
}

/// Comparisons in this form keep a NaN.
inline VF relu(F32 d, VF x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); }
inline VF clip(VF x, VF low, VF high) {
  const VF raised = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(raised, high), high, raised);
}

/// dst[i] = op(src[i]) for i in [0, n). dst may be src.
inline void map_unary(const UnaryRule& rule, const float* src, float* dst, int64_t n) {
  const auto each = [&](const auto& f) { map(f, src, dst, n); };
  const VF low = hn::Set(F32(), rule.low);
  const VF high = hn::Set(F32(), rule.high);
  switch (rule.op) {
    case UnaryOp::kAbs: return each([](F32, VF x) HWY_ATTR { return hn::Abs(x); });
    case UnaryOp::kClip: return each([&](F32, VF x) HWY_ATTR { return clip(x, low, high); });
    case UnaryOp::kCos: return each([](F32 d, VF x) HWY_ATTR { return cos(d, x); });
    case UnaryOp::kErf: return each([](F32 d, VF x) HWY_ATTR { return erf(d, x); });
    case UnaryOp::kExp: return each([](F32 d, VF x) HWY_ATTR { return exp(d, x); });
    case UnaryOp::kGelu: return each([](F32 d, VF x) HWY_ATTR { return gelu(d, x, false); });
    case UnaryOp::kGeluTanh: return each([](F32 d, VF x) HWY_ATTR { return gelu(d, x, true); });
    case UnaryOp::kLog: return each([](F32 d, VF x) HWY_ATTR { return log(d, x); });
    case UnaryOp::kNeg: return each([](F32, VF x) HWY_ATTR { return hn::Neg(x); });
    case UnaryOp::kReciprocal: return each([](F32 d, VF x) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), x); });
    case UnaryOp::kRelu: return each([](F32 d, VF x) HWY_ATTR { return relu(d, x); });
    case UnaryOp::kRsqrt: return each([](F32 d, VF x) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)); });
    case UnaryOp::kSigmoid: return each([](F32 d, VF x) HWY_ATTR { return sigmoid(d, x); });
    case UnaryOp::kSign: return each([](F32 d, VF x) HWY_ATTR { return sign(d, x); });
    case UnaryOp::kSin: return each([](F32 d, VF x) HWY_ATTR { return sin(d, x); });
    case UnaryOp::kSqrt: return each([](F32, VF x) HWY_ATTR { return hn::Sqrt(x); });
    case UnaryOp::kTanh: return each([](F32 d, VF x) HWY_ATTR { return tanh(d, x); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
