// Elementwise ops of two f32 rows; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_BINARY_ROW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_BINARY_ROW_H
#undef PLIMSOLL_BACKENDS_CPU_BINARY_ROW_H
#else
#define PLIMSOLL_BACKENDS_CPU_BINARY_ROW_H
#endif

#include <cmath>

#include "backends/cpu/elementwise_rules.h"
#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// A source that stays at one element is read once for a row.
template <class F>
void map_row(const F& f, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  if (n == 1) return map<Run::kAlong, Run::kAlong>(f, a, b, dst, n);
  if (a_stays) return map<Run::kSame, Run::kAlong>(f, a, b, dst, n);
  if (b_stays) return map<Run::kAlong, Run::kSame>(f, a, b, dst, n);
  map<Run::kAlong, Run::kAlong>(f, a, b, dst, n);
}

inline void pow_row(const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = std::pow(a[a_stays ? 0 : i], b[b_stays ? 0 : i]);
}

/// The larger or smaller one; NaN where either is.
inline VF maximum(VF a, VF b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Gt(a, b), a, b)); }
inline VF minimum(VF a, VF b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Lt(a, b), a, b)); }

/// dst[i] = op(a[i], b[i]) for i in [0, n), where a source that stays has one element. dst may be a source that runs
/// along. Requires: one source moves, or n is 1.
inline void map_binary(BinaryOp op, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  const auto each = [&](const auto& f) { map_row(f, a, a_stays, b, b_stays, dst, n); };
  switch (op) {
    case BinaryOp::kAdd: return each([](F32, VF x, VF y) HWY_ATTR { return hn::Add(x, y); });
    case BinaryOp::kDivide: return each([](F32, VF x, VF y) HWY_ATTR { return hn::Div(x, y); });
    case BinaryOp::kMaximum: return each([](F32, VF x, VF y) HWY_ATTR { return maximum(x, y); });
    case BinaryOp::kMinimum: return each([](F32, VF x, VF y) HWY_ATTR { return minimum(x, y); });
    case BinaryOp::kMultiply: return each([](F32, VF x, VF y) HWY_ATTR { return hn::Mul(x, y); });
    case BinaryOp::kPow: return pow_row(a, a_stays, b, b_stays, dst, n);
    case BinaryOp::kSubtract: return each([](F32, VF x, VF y) HWY_ATTR { return hn::Sub(x, y); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
