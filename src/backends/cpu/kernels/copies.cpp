// Ops that only move elements: each is one or more strided copies.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

using Axes = std::vector<StridedCopy::Axis>;

std::unique_ptr<Kernel> make_copy(const Axes& axes, int64_t src_offset, const program::Kernel& kernel,
                                  const CpuContext& context) {
  const StridedCopy copy(axes, src_offset, 0, size_bytes(kernel.dsts[0].dtype));
  return make_kernel(
      [copy, &pool = context.pool](const LaunchArgs& args) { copy.run(pool, args.srcs[0], args.dsts[0]); });
}

Result<std::unique_ptr<Kernel>> prepare_transpose(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(kernel.dsts[0].shape);
  Axes axes;
  for (int axis = 0; axis < src.rank(); ++axis) {
    const int64_t named = kernel.attributes.get_ints("permutation")[static_cast<size_t>(axis)];
    const auto src_axis = static_cast<size_t>(*try_normalize_axis(named, src.rank()));
    axes.push_back({kernel.dsts[0].shape[axis], from[src_axis], to[static_cast<size_t>(axis)]});
  }
  return make_copy(axes, 0, kernel, context);
}

Result<std::unique_ptr<Kernel>> prepare_expand(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const Shape& dst = kernel.dsts[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(dst);
  Axes axes;
  for (int axis = 0; axis < dst.rank(); ++axis) {
    const int src_axis = axis - (dst.rank() - src.rank());
    const bool repeats = src_axis < 0 || src[src_axis] == 1;
    axes.push_back({dst[axis], repeats ? 0 : from[static_cast<size_t>(src_axis)], to[static_cast<size_t>(axis)]});
  }
  return make_copy(axes, 0, kernel, context);
}

Result<std::unique_ptr<Kernel>> prepare_tile(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const Shape& dst = kernel.dsts[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(dst);
  Axes axes;
  for (int axis = 0; axis < dst.rank(); ++axis) {
    const int src_axis = axis - (dst.rank() - src.rank());
    const int64_t extent = src_axis < 0 ? 1 : src[src_axis];
    const int64_t stride = to[static_cast<size_t>(axis)];
    axes.push_back({extent == 0 ? 0 : dst[axis] / extent, 0, extent * stride});
    axes.push_back({extent, src_axis < 0 ? 0 : from[static_cast<size_t>(src_axis)], stride});
  }
  return make_copy(axes, 0, kernel, context);
}

Result<std::unique_ptr<Kernel>> prepare_slice(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const auto from = plain_strides(kernel.srcs[0].shape);
  const auto to = plain_strides(kernel.dsts[0].shape);
  const std::vector<int64_t>& starts = kernel.attributes.get_ints("starts");
  const std::vector<int64_t>& steps = kernel.attributes.get_ints("steps");
  Axes axes;
  int64_t offset = 0;
  for (size_t axis = 0; axis < starts.size(); ++axis) {
    offset += starts[axis] * from[axis];
    const int64_t step = steps.empty() ? 1 : steps[axis];
    axes.push_back({kernel.dsts[0].shape[static_cast<int>(axis)], step * from[axis], to[axis]});
  }
  return make_copy(axes, offset, kernel, context);
}

/// Fills the whole destination and then copies the box inside: the border is small.
template <class T>
std::unique_ptr<Kernel> make_pad(const StridedCopy& copy, const program::Kernel& kernel, ThreadPool& pool) {
  const Cut cut = cut_by_cost(kernel.dsts[0].numel(), 1, kLineElements);
  const auto value = static_cast<T>(kernel.attributes.get_float("value"));
  return make_kernel([copy, cut, value, &pool](const LaunchArgs& args) {
    run(pool, cut, [&](Range range, int64_t) { std::fill_n(dst<T>(args, 0) + range.begin, range.size(), value); });
    copy.run(pool, args.srcs[0], args.dsts[0]);
  });
}

Result<std::unique_ptr<Kernel>> prepare_pad(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(kernel.dsts[0].shape);
  const std::vector<int64_t>& before = kernel.attributes.get_ints("before");
  Axes axes;
  int64_t offset = 0;
  for (size_t axis = 0; axis < before.size(); ++axis) {
    offset += before[axis] * to[axis];
    axes.push_back({src[static_cast<int>(axis)], from[axis], to[axis]});
  }
  const StridedCopy copy(axes, 0, offset, size_bytes(kernel.dsts[0].dtype));
  switch (kernel.dsts[0].dtype) {
    case DType::kF32: return make_pad<float>(copy, kernel, context.pool);
    case DType::kI32: return make_pad<int32_t>(copy, kernel, context.pool);
    case DType::kI64: return make_pad<int64_t>(copy, kernel, context.pool);
    case DType::kBool: return make_pad<uint8_t>(copy, kernel, context.pool);
    default: return unsupported("[pad] the cpu kernel takes f32, i32, i64 and bool, not " + to_string(kernel.srcs[0]));
  }
}

}  // namespace

void define_copies(KernelTable& table) {
  table.add("transpose", prepare_transpose);
  table.add("expand", prepare_expand);
  table.add("tile", prepare_tile);
  table.add("slice", prepare_slice);
  table.add("pad", prepare_pad);
}

}  // namespace plimsoll::backends::cpu
