// cross_entropy of logits against class numbers, and its gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
// Highway wants its own header after foreach_target.h.
#include "backends/cpu/cross_entropy_row.h"
#include "backends/cpu/cut.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Writes lse of the rows and returns the sum of their losses.
double loss_rows(const ClassLoss& loss, const float* logits, const int32_t* targets, float* lse, Range rows) {
  double sum = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const float* x = logits + row * loss.classes;
    lse[row] = log_sum_exp(x, loss.classes);
    sum += row_loss(loss, x, targets[row], lse[row]);
  }
  return sum;
}

void loss_grad_rows(const ClassLoss& loss, const float* logits, const int32_t* targets, const float* lse, float scale,
                    float* d_logits, Range rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row)
    row_loss_grad(loss, logits + row * loss.classes, targets[row], lse[row], scale, d_logits + row * loss.classes);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

HWY_EXPORT(loss_rows);
HWY_EXPORT(loss_grad_rows);

/// About what an exponential costs, in elements moved.
constexpr int64_t kCostPerClass = 8;

Result<std::unique_ptr<Kernel>> prepare_cross_entropy(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1}));
  const ClassLoss loss = make_class_loss(kernel.attributes, kernel.srcs[0].shape[1]);
  const Cut cut = cut_by_cost(kernel.srcs[0].shape[0], loss.classes * kCostPerClass);
  const auto launch = [=, &pool = context.pool](const LaunchArgs& args) {
    auto* sums = static_cast<double*>(args.workspace);
    run(pool, cut, [&](Range range, int64_t task) {
      sums[task] =
          HWY_DYNAMIC_DISPATCH(loss_rows)(loss, src<float>(args, 0), src<int32_t>(args, 1), dst<float>(args, 1), range);
    });
    double sum = 0;
    for (int64_t task = 0; task < cut.tasks(); ++task) sum += sums[task];
    *dst<float>(args, 0) = static_cast<float>(sum * *src<float>(args, 2));
  };
  return make_kernel(launch, cut.tasks() * int64_t{sizeof(double)});
}

Result<std::unique_ptr<Kernel>> prepare_cross_entropy_grad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain_f32(kernel, {1}));
  const ClassLoss loss = make_class_loss(kernel.attributes, kernel.srcs[0].shape[1]);
  const Cut cut = cut_by_cost(kernel.srcs[0].shape[0], loss.classes * kCostPerClass);
  return make_kernel([=, &pool = context.pool](const LaunchArgs& args) {
    const float scale = *src<float>(args, 2) * *src<float>(args, 4);
    run(pool, cut, [&](Range range, int64_t) {
      HWY_DYNAMIC_DISPATCH(loss_grad_rows)
      (loss, src<float>(args, 0), src<int32_t>(args, 1), src<float>(args, 3), scale, dst<float>(args, 0), range);
    });
  });
}

}  // namespace

void define_cross_entropy(KernelTable& table) {
  table.add("cross_entropy", prepare_cross_entropy);
  table.add("cross_entropy_grad", prepare_cross_entropy_grad);
}

}  // namespace plimsoll::backends::cpu
#endif  // HWY_ONCE
