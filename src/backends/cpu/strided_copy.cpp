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

/// Rows that are read together, and elements of each: one cache line of f32.
constexpr int64_t kBlock = 16;

/// Neighbouring rows whose sources lie beside each other, as in a transpose, block by block: each line on either side
/// is touched once and whole, even where strides put all lines into one set of the cache (one row after the other takes
/// ten times as long at 2048 × 3072).
template <class T>
void copy_rows_beside(const unsigned char* src, unsigned char* dst, const StridedCopy::Axis& row, int64_t count,
                      int64_t dst_stride) {
  const auto* from = reinterpret_cast<const T*>(src);
  auto* to = reinterpret_cast<T*>(dst);
  if (count < kBlock || row.extent < kBlock) {
    for (int64_t i = 0; i < row.extent; ++i)
      for (int64_t k = 0; k < count; ++k) to[k * dst_stride + i * row.dst_stride] = from[i * row.src_stride + k];
    return;
  }
  T block[kBlock][kBlock];
  for (int64_t first = 0; first < row.extent; first += kBlock) {
    const int64_t n = std::min(kBlock, row.extent - first);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t k = 0; k < kBlock; ++k) block[k][i] = from[(first + i) * row.src_stride + k];
    for (int64_t k = 0; k < kBlock; ++k)
      for (int64_t i = 0; i < n; ++i) to[k * dst_stride + (first + i) * row.dst_stride] = block[k][i];
  }
}

/// Calls body(value of an element's unsigned type).
template <class Body>
void with_element(int64_t element_bytes, const Body& body) {
  switch (element_bytes) {
    case 1: return body(uint8_t{});
    case 2: return body(uint16_t{});
    case 4: return body(uint32_t{});
    default: return body(uint64_t{});
  }
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
  const Axis beside = outer_rank_ > 0 ? outer_[static_cast<size_t>(outer_rank_ - 1)] : Axis{};
  const bool are_beside = beside.src_stride == 1 && row_.src_stride != 1;
  int64_t count = 1;
  for (int64_t row = rows.begin; row < rows.end; row += count) {
    const auto [from, to] = offsets_of(row);
    const unsigned char* s = src + from * element_bytes_;
    unsigned char* d = dst + to * element_bytes_;
    count = are_beside ? std::min({kBlock, rows.end - row, beside.extent - row % beside.extent}) : 1;
    if (row_.src_stride == 1 && row_.dst_stride == 1)
      std::memcpy(d, s, static_cast<size_t>(row_.extent * element_bytes_));
    else if (count > 1)
      with_element(element_bytes_, [&]<class T>(T) { copy_rows_beside<T>(s, d, row_, count, beside.dst_stride); });
    else
      with_element(element_bytes_, [&]<class T>(T) { copy_row<T>(s, d, row_); });
  }
}

std::pair<int64_t, int64_t> StridedCopy::offsets_of(int64_t row) const {
  int64_t from = 0;
  int64_t to = 0;
  for (int i = outer_rank_ - 1; i >= 0; --i) {
    const Axis& axis = outer_[static_cast<size_t>(i)];
    from += row % axis.extent * axis.src_stride;
    to += row % axis.extent * axis.dst_stride;
    row /= axis.extent;
  }
  return {from, to};
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
