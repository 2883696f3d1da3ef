#include "backends/cpu/strided_copy.h"

#include <cstring>

namespace plimsoll::backends::cpu {
namespace {

template <class T>
void copy_row(const unsigned char* src, unsigned char* dst, const StridedCopy::Axis& row) {
  const auto* from = reinterpret_cast<const T*>(src);
  auto* to = reinterpret_cast<T*>(dst);
  for (int64_t i = 0; i < row.extent; ++i) to[i * row.dst_stride] = from[i * row.src_stride];
}

}  // namespace

StridedCopy::StridedCopy(std::span<const Axis> axes, int64_t src_offset, int64_t dst_offset, int64_t element_bytes)
    : src_offset_(src_offset), dst_offset_(dst_offset), element_bytes_(element_bytes) {
  bool has_row = false;
  const auto push_row = [&] {
    outer_[static_cast<size_t>(outer_rank_++)] = row_;
    rows_ *= row_.extent;
  };
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    const bool joins =
        has_row && row_.src_stride == axis.src_stride * axis.extent && row_.dst_stride == axis.dst_stride * axis.extent;
    const int64_t outer = joins ? row_.extent : 1;
    if (has_row && !joins) push_row();
    row_ = {outer * axis.extent, axis.src_stride, axis.dst_stride};
    has_row = true;
  }
}

void StridedCopy::run(ThreadPool& pool, const void* src, void* dst) const {
  if (rows_ == 0 || row_.extent == 0) return;
  const auto* from = static_cast<const unsigned char*>(src) + src_offset_ * element_bytes_;
  auto* to = static_cast<unsigned char*>(dst) + dst_offset_ * element_bytes_;
  cpu::run(pool, cut_by_cost(rows_, row_.extent), [&](Range rows, int64_t) { copy_rows(rows, from, to); });
}

void StridedCopy::copy_rows(Range rows, const unsigned char* src, unsigned char* dst) const {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t from = 0;
    int64_t to = 0;
    int64_t index = row;
    for (int i = outer_rank_ - 1; i >= 0; --i) {
      const Axis& axis = outer_[static_cast<size_t>(i)];
      from += index % axis.extent * axis.src_stride;
      to += index % axis.extent * axis.dst_stride;
      index /= axis.extent;
    }
    const unsigned char* s = src + from * element_bytes_;
    unsigned char* d = dst + to * element_bytes_;
    if (row_.src_stride == 1 && row_.dst_stride == 1) {
      std::memcpy(d, s, static_cast<size_t>(row_.extent * element_bytes_));
      continue;
    }
    switch (element_bytes_) {
      case 1: copy_row<uint8_t>(s, d, row_); break;
      case 2: copy_row<uint16_t>(s, d, row_); break;
      case 4: copy_row<uint32_t>(s, d, row_); break;
      default: copy_row<uint64_t>(s, d, row_); break;
    }
  }
}

std::unique_ptr<Kernel> make_copy_kernel(std::span<const StridedCopy::Axis> axes, int64_t src_offset,
                                         const program::Kernel& kernel, const CpuContext& context) {
  const StridedCopy copy(axes, src_offset, 0, size_bytes(kernel.dsts[0].dtype));
  return make_kernel(
      [copy, &pool = context.pool](const LaunchArgs& args) { copy.run(pool, args.srcs[0], args.dsts[0]); });
}

std::array<int64_t, Shape::kMaxRank> plain_strides(const Shape& shape) {
  std::array<int64_t, Shape::kMaxRank> out{};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    out[static_cast<size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return out;
}

}  // namespace plimsoll::backends::cpu
