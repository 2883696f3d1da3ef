// Elementwise ops of one f32 source.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/unary.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/unary_row.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void apply(const UnaryRule& rule, const float* src, float* dst, int64_t n) { map_unary(rule, src, dst, n); }

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
  const UnaryRule rule = *find_unary(kernel.op, kernel.attributes);
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([rule, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(apply)
      (rule, src<float>(args, 0) + range.begin, dst<float>(args, 0) + range.begin, range.size());
    });
  });
}

}  // namespace

void define_unary(KernelTable& table) {
  for (const std::string_view name : unary_names()) table.add(std::string(name), prepare);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
