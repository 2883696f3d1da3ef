// slice: one copy from where the box begins, by its steps.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const auto from = plain_strides(kernel.srcs[0].shape);
  const auto to = plain_strides(kernel.dsts[0].shape);
  const std::vector<int64_t>& starts = kernel.attributes.get_ints("starts");
  const std::vector<int64_t>& steps = kernel.attributes.get_ints("steps");
  std::vector<StridedCopy::Axis> axes;
  int64_t offset = 0;
  for (size_t axis = 0; axis < starts.size(); ++axis) {
    offset += starts[axis] * from[axis];
    const int64_t step = steps.empty() ? 1 : steps[axis];
    axes.push_back({kernel.dsts[0].shape[static_cast<int>(axis)], step * from[axis], to[axis]});
  }
  return make_copy_kernel(axes, offset, kernel, context);
}

}  // namespace

void define_slice(KernelTable& table) { table.add("slice", prepare); }

}  // namespace plimsoll::backends::cpu
