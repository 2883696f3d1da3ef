// concat and split: boxes along one axis.
#include "backends/cpu/strided_copy.h"
#include "ops/infer_rules.h"

namespace plimsoll::backends::cpu {
namespace {

/// Copies between the whole tensor and its parts, which follow each other along the axis.
std::vector<StridedCopy> part_copies(const TensorDesc& whole, std::span<const TensorDesc> parts,
                                     const Attributes& attributes, bool into_parts) {
  const int axis = ops::axis_of(whole.shape, attributes);
  const int64_t outer = whole.shape.numel_between(0, axis);
  const int64_t row = whole.shape.numel_between(axis, whole.shape.rank());
  std::vector<StridedCopy> out;
  int64_t offset = 0;
  for (const TensorDesc& part : parts) {
    const int64_t part_row = part.shape.numel_between(axis, part.shape.rank());
    const StridedCopy::Axis axes[] = {{outer, into_parts ? row : part_row, into_parts ? part_row : row},
                                      {part_row, 1, 1}};
    out.emplace_back(axes, into_parts ? offset : 0, into_parts ? 0 : offset, size_bytes(whole.dtype));
    offset += part_row;
  }
  return out;
}

Result<std::unique_ptr<Kernel>> prepare_concat(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  return make_kernel([copies = part_copies(kernel.dsts[0], kernel.srcs, kernel.attributes, false),
                      &pool = context.pool](const LaunchArgs& args) {
    for (size_t i = 0; i < copies.size(); ++i) copies[i].run(pool, args.srcs[i], args.dsts[0]);
  });
}

Result<std::unique_ptr<Kernel>> prepare_split(const program::Kernel& kernel, const CpuContext& context) {
  PLIMSOLL_RETURN_IF_ERROR(check_plain(kernel));
  return make_kernel([copies = part_copies(kernel.srcs[0], kernel.dsts, kernel.attributes, true),
                      &pool = context.pool](const LaunchArgs& args) {
    for (size_t i = 0; i < copies.size(); ++i) copies[i].run(pool, args.srcs[0], args.dsts[i]);
  });
}

}  // namespace

void define_concat(KernelTable& table) {
  table.add("concat", prepare_concat);
  table.add("split", prepare_split);
}

}  // namespace plimsoll::backends::cpu
