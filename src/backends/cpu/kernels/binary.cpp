// Elementwise ops of two f32 sources that broadcast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/binary.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own headers after foreach_target.h.
#include "backends/cpu/binary_row.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void apply(BinaryOp op, const float* a, bool a_stays, const float* b, bool b_stays, float* dst, int64_t n) {
  map_binary(op, a, a_stays, b, b_stays, dst, n);
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

HWY_EXPORT(apply);

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const BroadcastLoop loop(kernel.srcs, kernel.dsts[0].shape);
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), kElementwiseCost, kLineElements);
  return make_kernel([op = *find_binary(kernel.op), loop, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      loop.for_rows(range.begin, range.end, [&](const auto& offsets, int64_t begin, int64_t count) {
        HWY_DYNAMIC_DISPATCH(apply)
        (op, src<float>(args, 0) + offsets[0], loop.stays(0), src<float>(args, 1) + offsets[1], loop.stays(1),
         dst<float>(args, 0) + begin, count);
      });
    });
  });
}

}  // namespace

void define_binary(KernelTable& table) {
  for (const std::string_view name : binary_names()) table.add(std::string(name), prepare);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
