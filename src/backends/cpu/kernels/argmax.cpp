// argmax: the index of the largest element along an axis, the first of equal ones.
#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  const Shape& shape = kernel.srcs[0].shape;
  if (kernel.srcs[0].dtype != DType::kF32 || !kernel.srcs[0].layout.is_plain())
    return unsupported("[argmax] src is " + to_string(kernel.srcs[0]) + "; the cpu kernel takes plain f32");
  const int axis = *try_normalize_axis(kernel.attributes.get_int("axis"), shape.rank());
  const int64_t extent = shape[axis];
  const int64_t inner = shape.numel_between(axis + 1, shape.rank());
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), extent);
  return make_kernel([extent, inner, cut, &pool = context.pool](const LaunchArgs& args) {
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
