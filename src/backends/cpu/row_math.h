// Exponentials and reductions over f32 rows that Highway kernels share; included once per instruction set like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_ROW_MATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_ROW_MATH_H
#undef PLIMSOLL_BACKENDS_CPU_ROW_MATH_H
#else
#define PLIMSOLL_BACKENDS_CPU_ROW_MATH_H
#endif

#include <limits>

#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// e^x for x <= 88, relative error below 2e-7; 0 below -87.3 (so for -inf too). A NaN stays one, so that a loss shows
/// it.
///
/// Source: x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 in two parts (Cody and Waite, 1980); a degree 6 polynomial in r,
/// fitted to the least relative error 3e-9.
inline VF exp_below_88(F32 d, VF x) {
  const hn::RebindToSigned<F32> di;
  const VF lowest = hn::Set(d, -87.3f);
  // Max returns its second argument where one is NaN.
  const VF clamped = hn::Max(lowest, x);
  const auto n = hn::NearestInt(hn::Mul(clamped, hn::Set(d, 1.44269504f)));
  const VF nf = hn::ConvertTo(d, n);
  const VF r = hn::NegMulAdd(nf, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(nf, hn::Set(d, 0.693359375f), clamped));
  VF p = hn::MulAdd(hn::Set(d, 0.001381461275741458f), r, hn::Set(d, 0.008368710055947304f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166838899254799f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.1666652113199234f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.4999999403953552f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
  return hn::IfThenZeroElse(hn::Lt(x, lowest), hn::Mul(p, power));
}

inline float sum_of_lanes(F32 d, VF v) { return hn::GetLane(hn::SumOfLanes(d, v)); }

/// Σ over i in [0, n) of f(d, i, load), where load(p) reads the lanes of array p that belong to i …; lanes past n are
/// given as 0, and f must be 0 there.
template <class F>
float sum_over(int64_t n, const F& f) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  VF s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  const auto at = [&](int64_t offset) { return [=](const float* p) { return hn::LoadU(F32(), p + offset); }; };
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, f(d, i, at(i)));
    s1 = hn::Add(s1, f(d, i + lanes, at(i + lanes)));
    s2 = hn::Add(s2, f(d, i + 2 * lanes, at(i + 2 * lanes)));
    s3 = hn::Add(s3, f(d, i + 3 * lanes, at(i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, f(d, i, at(i)));
  if (i < n) {
    const auto rest = static_cast<size_t>(n - i);
    s1 = hn::Add(s1, f(d, i, [=](const float* p) { return load_first(F32(), p + i, rest); }));
  }
  return sum_of_lanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

inline float row_sum(const float* x, int64_t n) {
  return sum_over(n, [x](F32, int64_t, auto load) { return load(x); });
}

/// The largest element; -inf where n is 0. NaNs may or may not be seen.
inline float row_max(const float* x, int64_t n) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  VF m0 = hn::Set(d, kLowest), m1 = m0, m2 = m0, m3 = m0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    m0 = hn::Max(m0, hn::LoadU(d, x + i));
    m1 = hn::Max(m1, hn::LoadU(d, x + i + lanes));
    m2 = hn::Max(m2, hn::LoadU(d, x + i + 2 * lanes));
    m3 = hn::Max(m3, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) m0 = hn::Max(m0, hn::LoadU(d, x + i));
  if (i < n) m1 = hn::Max(m1, load_first(d, x + i, static_cast<size_t>(n - i), kLowest));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
}

/// y[i] = e^(x[i] - shift); returns their sum. y may be x.
inline float exp_row(const float* x, float* y, int64_t n, float shift) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF s = hn::Set(d, shift);
  VF s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const VF e0 = exp_below_88(d, hn::Sub(hn::LoadU(d, x + i), s));
    const VF e1 = exp_below_88(d, hn::Sub(hn::LoadU(d, x + i + lanes), s));
    hn::StoreU(e0, d, y + i);
    hn::StoreU(e1, d, y + i + lanes);
    s0 = hn::Add(s0, e0);
    s1 = hn::Add(s1, e1);
  }
  for (; i < n; i += lanes) {
    const auto rest = static_cast<size_t>(std::min(lanes, n - i));
    const VF e = exp_below_88(d, hn::Sub(load_first(d, x + i, rest, -std::numeric_limits<float>::infinity()), s));
    store_first(d, e, y + i, rest);
    s0 = hn::Add(s0, e);
  }
  return sum_of_lanes(d, hn::Add(s0, s1));
}

/// Σ e^(x[i] - shift).
inline float exp_sum(const float* x, int64_t n, float shift) {
  const F32 d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const VF s = hn::Set(d, shift);
  VF s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = hn::Add(s0, exp_below_88(d, hn::Sub(hn::LoadU(d, x + i), s)));
    s1 = hn::Add(s1, exp_below_88(d, hn::Sub(hn::LoadU(d, x + i + lanes), s)));
  }
  for (; i < n; i += lanes) {
    const auto rest = static_cast<size_t>(std::min(lanes, n - i));
    s0 = hn::Add(s0, exp_below_88(d, hn::Sub(load_first(d, x + i, rest, -std::numeric_limits<float>::infinity()), s)));
  }
  return sum_of_lanes(d, hn::Add(s0, s1));
}

/// y[i] = x[i] · factor. y may be x.
inline void scale_row(const float* x, float* y, int64_t n, float factor) {
  map([factor](F32 d, VF v) { return hn::Mul(v, hn::Set(d, factor)); }, x, y, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
