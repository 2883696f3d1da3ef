// Elementwise ops of one f32 source.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/simd.h"
#include "hwy/contrib/math/math-inl.h"

#ifndef PLIMSOLL_BACKENDS_CPU_UNARY_OP
#define PLIMSOLL_BACKENDS_CPU_UNARY_OP
namespace plimsoll::backends::cpu {
enum class UnaryOp { kRelu, kSqrt, kAbs, kNeg };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void map_unary(UnaryOp op, const float* src, float* dst, int64_t n) {
  switch (op) {
    // max(0, x) in this order keeps a NaN.
    case UnaryOp::kRelu:
      map([](auto d, auto x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); }, src, dst, n);
      break;
    case UnaryOp::kSqrt: map([](auto, auto x) { return hn::Sqrt(x); }, src, dst, n); break;
    case UnaryOp::kAbs: map([](auto, auto x) { return hn::Abs(x); }, src, dst, n); break;
    case UnaryOp::kNeg: map([](auto, auto x) { return hn::Neg(x); }, src, dst, n); break;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(map_unary);

/// Elements are cut in whole cache lines.
constexpr int64_t kLineElements = 16;

Prepare prepare_unary(UnaryOp op) {
  return [op](const program::Kernel& kernel, const CpuContext& context) -> Result<std::unique_ptr<Kernel>> {
    PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
    const Cut cut = cut_by_cost(kernel.dsts[0].numel(), 2, kLineElements);
    return make_kernel([op, cut, &pool = context.pool](const LaunchArgs& args) {
      run(pool, cut, [&](Range range, int64_t) {
        HWY_DYNAMIC_DISPATCH(map_unary)
        (op, src<float>(args, 0) + range.begin, dst<float>(args, 0) + range.begin, range.size());
      });
    });
  };
}

}  // namespace

void define_unary(KernelTable& table) {
  table.add("relu", prepare_unary(UnaryOp::kRelu));
  table.add("sqrt", prepare_unary(UnaryOp::kSqrt));
  table.add("abs", prepare_unary(UnaryOp::kAbs));
  table.add("neg", prepare_unary(UnaryOp::kNeg));
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
