// pad: a constant, and one copy inside.
#include "backends/cpu/strided_copy.h"

namespace plimsoll::backends::cpu {
namespace {

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

Result<std::unique_ptr<Kernel>> prepare(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  const Shape& src = kernel.srcs[0].shape;
  const auto from = plain_strides(src);
  const auto to = plain_strides(kernel.dsts[0].shape);
  const std::vector<int64_t>& before = kernel.attributes.get_ints("before");
  std::vector<StridedCopy::Axis> axes;
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

void define_pad(KernelTable& table) { table.add("pad", prepare); }

}  // namespace plimsoll::backends::cpu
