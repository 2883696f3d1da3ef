// mse: the mean of squared differences.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/mse.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/cut.h"
#include "backends/cpu/row_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Pieces are short enough for f32 sums and added in f64.
double sum_of_squared_differences(const float* a, const float* b, Range range) {
  constexpr int64_t kPiece = 4096;
  double sum = 0;
  for (int64_t begin = range.begin; begin < range.end; begin += kPiece)
    sum += sum_over(std::min(kPiece, range.end - begin), [=](F32, int64_t, auto load) {
      const VF difference = hn::Sub(load(a + begin), load(b + begin));
      return hn::Mul(difference, difference);
    });
  return sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(sum_of_squared_differences);

Result<std::unique_ptr<Kernel>> prepare_mse(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel));
  const int64_t n = kernel.srcs[0].numel();
  const Cut cut = cut_by_cost(n, 2);
  const auto launch = [=, &pool = context.pool](const LaunchArgs& args) {
    auto* sums = static_cast<double*>(args.workspace);
    run(pool, cut, [&](Range range, int64_t task) {
      sums[task] = HWY_DYNAMIC_DISPATCH(sum_of_squared_differences)(src<float>(args, 0), src<float>(args, 1), range);
    });
    double sum = 0;
    for (int64_t task = 0; task < cut.tasks(); ++task) sum += sums[task];
    *dst<float>(args, 0) = static_cast<float>(sum / static_cast<double>(std::max<int64_t>(n, 1)));
  };
  return make_kernel(launch, cut.tasks() * int64_t{sizeof(double)});
}

}  // namespace

void define_mse(KernelTable& table) { table.add("mse", prepare_mse); }

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
