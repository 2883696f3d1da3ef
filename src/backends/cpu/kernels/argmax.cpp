// argmax: the index of the largest element along an axis, the first of equal ones.
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"
#include "ops/infer_rules.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  const Shape& shape = kernel.srcs[0].shape;
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  if (kernel.srcs[0].dtype != DType::kF32)
    return unsupported("[argmax] src is " + to_string(kernel.srcs[0]) + "; the cpu kernel takes f32");
  const auto [outer, extent, inner] = ops::make_axis_span(shape, ops::axis_of(shape, kernel.attributes));
  const Cut cut = cut_by_cost(outer * inner, extent);
  return make_kernel([extent = extent, inner = inner, cut, &pool = context.pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) {
      for (int64_t output = range.begin; output < range.end; ++output) {
        const float* p = src<float>(args, 0) + output / inner * extent * inner + output % inner;
        int64_t best = 0;
        for (int64_t k = 1; k < extent; ++k)
          if (p[k * inner] > p[best * inner]) best = k;
        dst<int64_t>(args, 0)[output] = best;
      }
    });
  });
}

}  // namespace

void define_argmax(KernelTable& table) { table.add("argmax", prepare); }

}  // namespace plimsoll::backends::cpu
