// Gradients of elementwise ops from what the forward pass left and d_y, in one pass.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary_gradient.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/gradient_row.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void apply(GradientOp op, const float* saved, const float* d_y, float* d_x, int64_t n) {
  map_gradient(op, saved, d_y, d_x, n);
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

HWY_EXPORT(apply);

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const GradientOp op = *find_gradient(kernel.op, kernel.attributes);
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([op, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(apply)
      (op, src<float>(args, 0) + range.begin, src<float>(args, 1) + range.begin, dst<float>(args, 0) + range.begin,
       range.size());
    });
  });
}

}  // namespace

void define_unary_gradient(KernelTable& table) {
  for (const std::string_view name : gradient_names()) table.add(std::string(name), prepare);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
