// Elementwise ops of two f32 sources that broadcast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/binary.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/simd.h"

#ifndef PLIMSOLL_BACKENDS_CPU_BINARY_OP
#define PLIMSOLL_BACKENDS_CPU_BINARY_OP
#include <cmath>
namespace plimsoll::backends::cpu {
enum class BinaryOp : uint8_t { kAdd, kDivide, kMaximum, kMinimum, kMultiply, kPow, kSubtract };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// A source that stays at one element is read once for a row. Requires: one source moves, or n is 1.
template <class F>
void map_row(const F& f, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  if (n == 1) return map<Run::kAlong, Run::kAlong>(f, a, b, dst, n);
  if (a_stays) return map<Run::kSame, Run::kAlong>(f, a, b, dst, n);
  if (b_stays) return map<Run::kAlong, Run::kSame>(f, a, b, dst, n);
  map<Run::kAlong, Run::kAlong>(f, a, b, dst, n);
}

void pow_row(const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = std::pow(a[a_stays ? 0 : i], b[b_stays ? 0 : i]);
}

/// The larger or smaller one; NaN where either is.
VF maximum(VF a, VF b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Gt(a, b), a, b)); }
VF minimum(VF a, VF b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Lt(a, b), a, b)); }

void map_binary(BinaryOp op, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/broadcast_loop.h"
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(map_binary);

Prepare prepare_binary(BinaryOp op) {
  return [op](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
    const BroadcastLoop loop(kernel.srcs, kernel.dsts[0].shape);
    const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
    return make_kernel([op, loop, cut, &pool = context.pool](const LaunchArgs& args) {
      run(pool, cut, [&](Range range, int64_t) {
        loop.for_rows(range.begin, range.end, [&](const auto& offsets, int64_t begin, int64_t count) {
          HWY_DYNAMIC_DISPATCH(map_binary)
          (op, src<float>(args, 0) + offsets[0], loop.stays(0), src<float>(args, 1) + offsets[1], loop.stays(1),
           dst<float>(args, 0) + begin, count);
        });
      });
    });
  };
}

}  // namespace

void define_binary(KernelTable& table) {
  const std::pair<const char*, BinaryOp> rows[] = {{"add", BinaryOp::kAdd},          {"divide", BinaryOp::kDivide},
                                                   {"maximum", BinaryOp::kMaximum},  {"minimum", BinaryOp::kMinimum},
                                                   {"pow", BinaryOp::kPow},          {"multiply", BinaryOp::kMultiply},
                                                   {"subtract", BinaryOp::kSubtract}};
  for (const auto& [name, op] : rows) table.add(name, prepare_binary(op));
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
