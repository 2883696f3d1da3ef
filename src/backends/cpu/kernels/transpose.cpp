// transpose: one copy whose axes are in another order.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(kernel.dsts[0].shape);
  std::vector<StridedCopy::Axis> axes;
  for (int axis = 0; axis < src.rank(); ++axis) {
    const int64_t named = kernel.attributes.get_ints("permutation")[static_cast<size_t>(axis)];
    const auto src_axis = static_cast<size_t>(*try_normalize_axis(named, src.rank()));
    axes.push_back({kernel.dsts[0].shape[axis], from[src_axis], to[static_cast<size_t>(axis)]});
  }
  return make_copy_kernel(axes, 0, kernel, context);
}

}  // namespace

void define_transpose(KernelTable& table) { table.add("transpose", prepare); }

}  // namespace plimsoll::backends::cpu
