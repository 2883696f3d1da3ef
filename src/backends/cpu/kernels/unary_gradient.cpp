// Gradients of elementwise ops from what the forward pass left and d_y, in one pass.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary_gradient.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/gelu.h"

#ifndef PLIMSOLL_BACKENDS_CPU_GRADIENT_OP
#define PLIMSOLL_BACKENDS_CPU_GRADIENT_OP
namespace plimsoll::backends::cpu {
enum class GradientOp : uint8_t { kGelu, kGeluTanh, kRelu, kSigmoid, kTanh };
}
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void map_gradient(GradientOp op, const float* saved, const float* d_y, float* d_x, int64_t n) {
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(map_gradient);

Result<std::unique_ptr<Kernel>> make_gradient(GradientOp op, const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([op, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(map_gradient)
      (op, src<float>(args, 0) + range.begin, src<float>(args, 1) + range.begin, dst<float>(args, 0) + range.begin,
       range.size());
    });
  });
}

Prepare prepare_gradient(GradientOp op) {
  return [op](const program::Kernel& kernel, const CpuContext& context) { return make_gradient(op, kernel, context); };
}

}  // namespace

void define_unary_gradient(KernelTable& table) {
  table.add("relu_grad", prepare_gradient(GradientOp::kRelu));
  table.add("sigmoid_grad", prepare_gradient(GradientOp::kSigmoid));
  table.add("tanh_grad", prepare_gradient(GradientOp::kTanh));
  table.add("gelu_grad", [](const program::Kernel& kernel, const CpuContext& context) {
    const bool is_tanh = kernel.attributes.get_string("approximate") == "tanh";
    return make_gradient(is_tanh ? GradientOp::kGeluTanh : GradientOp::kGelu, kernel, context);
  });
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
