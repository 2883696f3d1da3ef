// Elementary functions of f32 vectors that keep NaN and reach the right limits at the ends; included once per
// instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_SIMD_MATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_SIMD_MATH_H
#undef PLIMSOLL_BACKENDS_CPU_SIMD_MATH_H
#else
#define PLIMSOLL_BACKENDS_CPU_SIMD_MATH_H
#endif

#include <cmath>
#include <limits>

#include "backends/cpu/row_math.h"
#include "backends/cpu/simd.h"
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// `y`, or x where x is NaN: Highway's functions clamp, and a comparison with NaN would lose it.
inline VF keep_nan(VF x, VF y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

/// e^x; infinity above the largest f32's logarithm, 0 far below.
inline VF exp(F32 d, VF x) {
  constexpr float kLargest = 88.722839f;  // ln of the largest f32
  const VF bounded = hn::Min(x, hn::Set(d, kLargest));
  const VF y = hn::IfThenElse(hn::Gt(x, hn::Set(d, kLargest)), hn::Set(d, std::numeric_limits<float>::infinity()),
                              hn::Exp(d, bounded));
  return keep_nan(x, y);
}

/// ln x; -infinity at 0, NaN below.
inline VF log(F32 d, VF x) {
  const VF infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const VF y = hn::IfThenElse(hn::Eq(x, infinity), infinity, hn::Log(d, x));
  const VF at_zero = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  const VF below = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), at_zero);
  return keep_nan(x, below);
}

/// 1 / (1 + e^-x), as e^x / (1 + e^x) below 0: no exponential overflows, and the result is 0 below -87.3.
inline VF sigmoid(F32 d, VF x) {
  const VF one = hn::Set(d, 1.0f);
  const VF e = exp_below_88(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// Highway's tanh goes through e^2x, so the argument is kept where that is finite; tanh is ±1 from 10 on.
inline VF tanh(F32 d, VF x) {
  const VF end = hn::Set(d, 10.0f);
  return keep_nan(x, hn::Tanh(d, hn::Max(hn::Neg(end), hn::Min(x, end))));
}

/// The error function as x · P(x²) / Q(x²) on |x| ≤ 3.95, where it reaches 1 in f32.
///
/// Error: 3.3e-7 relative, against f64. Source: our own weighted least squares fit of erf(x) / x in x² at 1500
/// Chebyshev nodes, reweighted until the relative error was even (2.1e-8 before rounding to f32).
inline VF erf(F32 d, VF x) {
  const VF end = hn::Set(d, 3.95f);
  const VF bounded = hn::Max(hn::Neg(end), hn::Min(x, end));
  const VF t = hn::Mul(bounded, bounded);
  VF p = hn::Set(d, 2.025900899347973e-06f);
  p = hn::MulAdd(p, t, hn::Set(d, 0.0002846885965832384f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.0038082016266282833f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.05287557293742407f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.19155124738155557f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.1283791437393482f));
  VF q = hn::Set(d, 3.783177151278613e-05f);
  q = hn::MulAdd(q, t, hn::Set(d, 0.0011707353459474033f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.015055171151290249f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.11456001287458385f));
  q = hn::MulAdd(q, t, hn::Set(d, 0.5030905485858655f));
  q = hn::MulAdd(q, t, hn::Set(d, 1.0f));
  const VF y = hn::Div(hn::Mul(bounded, p), q);
  const VF one = hn::Set(d, 1.0f);
  return keep_nan(x, hn::Max(hn::Neg(one), hn::Min(y, one)));
}

/// f(x) lane by lane for arguments that a vector formula does not reach.
template <class F>
VF by_lane(F32 d, VF x, F f) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}

/// Highway's sin and cos hold up to |x| = 39000; beyond, and for NaN, the C library's do.
constexpr float kCircularLimit = 39000.0f;

inline VF sin(F32 d, VF x) {
  if (hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kCircularLimit)))) return hn::Sin(d, x);
  return by_lane(d, x, [](float v) { return std::sin(v); });
}

inline VF cos(F32 d, VF x) {
  if (hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kCircularLimit)))) return hn::Cos(d, x);
  return by_lane(d, x, [](float v) { return std::cos(v); });
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
