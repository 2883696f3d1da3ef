// The two forms of gelu and their slopes; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_GELU_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_GELU_H
#undef PLIMSOLL_BACKENDS_CPU_GELU_H
#else
#define PLIMSOLL_BACKENDS_CPU_GELU_H
#endif

#include "backends/cpu/simd_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

constexpr float kSqrtHalf = 0.70710678118654752f;
constexpr float kInverseSqrtTwoPi = 0.39894228040143268f;
/// √(2/π) and the weight of the cube: Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2.
constexpr float kTanhScale = 0.79788456080286536f;
constexpr float kCube = 0.044715f;

/// Φ(x), the normal distribution function.
inline VF normal_cdf(F32 d, VF x) {
  const VF half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, kSqrtHalf))), half);
}

/// (1 + tanh u) / 2 as sigmoid(2u), u = √(2/π) · (x + 0.044715 x³): one exponential, and exact where tanh is near -1.
inline VF tanh_gate(F32 d, VF x) {
  const VF cube = hn::MulAdd(hn::Mul(hn::Set(d, kCube), hn::Mul(x, x)), x, x);
  return sigmoid(d, hn::Mul(hn::Set(d, 2 * kTanhScale), cube));
}

/// x · gate.
inline VF gelu(F32 d, VF x, bool is_tanh) { return hn::Mul(x, is_tanh ? tanh_gate(d, x) : normal_cdf(d, x)); }

/// d gelu / dx = gate + x · gate'.
inline VF gelu_slope(F32 d, VF x, bool is_tanh) {
  const VF square = hn::Mul(x, x);
  if (!is_tanh) {
    const VF density = hn::Mul(hn::Set(d, kInverseSqrtTwoPi), exp_below_88(d, hn::Mul(hn::Set(d, -0.5f), square)));
    return hn::MulAdd(x, density, normal_cdf(d, x));
  }
  const VF gate = tanh_gate(d, x);
  const VF slope = hn::Mul(hn::Set(d, 2 * kTanhScale), hn::MulAdd(hn::Set(d, 3 * kCube), square, hn::Set(d, 1.0f)));
  const VF bend = hn::Mul(hn::Mul(gate, hn::Sub(hn::Set(d, 1.0f), gate)), slope);
  // Far out the bend is 0 exactly, and x · slope may be infinite.
  return hn::Add(gate, hn::IfThenZeroElse(hn::Eq(gate, hn::Zero(d)), hn::Mul(x, bend)));
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
