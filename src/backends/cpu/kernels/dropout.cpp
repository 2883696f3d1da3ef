// dropout: keeps or zeroes each element by a counter-based random number; no mask is stored.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dropout.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/dropout_row.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

void drop(const DropoutDraw& draw, uint64_t first, const float* x, float* y, int64_t n) {
  drop_row(draw, first, x, y, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/cut.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(drop);

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1, 2, 3}));
  const int64_t numel = kernel.dsts[0].numel();
  const Dropout dropout(kernel.attributes.get_float("p"), kernel.attributes.get_string("path"), numel);
  constexpr int64_t kCost = 4;  // ten rounds for a vector of blocks
  return make_kernel(
      [dropout, cut = cut_by_cost(numel, kCost, kLineElements), &pool = context.pool](const LaunchArgs& args) {
        const DropoutDraw draw = dropout.draw(args, 1);
        run(pool, cut, [&](Range range, int64_t) {
          HWY_DYNAMIC_DISPATCH(drop)
          (draw, draw.first + static_cast<uint64_t>(range.begin), src<float>(args, 0) + range.begin,
           dst<float>(args, 0) + range.begin, range.size());
        });
      });
}

}  // namespace

void define_dropout(KernelTable& table) { table.add("dropout", prepare); }

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
