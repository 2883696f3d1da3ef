// expand and tile: one copy that reads the source again along axes, counted from the last, until the destination is
// full.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const Shape& dst = kernel.dsts[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(dst);
  std::vector<StridedCopy::Axis> axes;
  for (int axis = 0; axis < dst.rank(); ++axis) {
    const int src_axis = axis - (dst.rank() - src.rank());
    const int64_t extent = src_axis < 0 ? 1 : src[src_axis];
    const int64_t stride = to[static_cast<size_t>(axis)];
    axes.push_back({extent == 0 ? 0 : dst[axis] / extent, 0, extent * stride});
    axes.push_back({extent, src_axis < 0 ? 0 : from[static_cast<size_t>(src_axis)], stride});
  }
  return make_copy_kernel(axes, 0, kernel, context);
}

}  // namespace

void define_repeat(KernelTable& table) {
  for (const char* op : {"expand", "tile"}) table.add(op, prepare);
}

}  // namespace plimsoll::backends::cpu
