#pragma once

#include <array>
#include <span>
#include <utility>

#include "backends/cpu/cut.h"
#include "backends/cpu/kernel_table.h"
#include "core/shape.h"

namespace plimsoll::backends::cpu {

/// A copy of a box of elements from one strided place to another: what transpose, slice, concat, split, pad, tile and
/// expand come down to. Axes of extent 1 are dropped, and neighbours that both sides walk alike are one.
class StridedCopy {
 public:
  struct Axis {
    int64_t extent = 1;
    int64_t src_stride = 0;  ///< in elements; 0 repeats, below 0 walks backwards
    int64_t dst_stride = 0;
  };

  /// `axes` from the outermost in; offsets are elements to where the box begins on either side.
  StridedCopy(std::span<const Axis> axes, int64_t src_offset, int64_t dst_offset, int64_t element_bytes);

  /// Copies on the pool. Requires: source and destination do not overlap.
  void run(ThreadPool& pool, const void* src, void* dst) const;

 private:
  void copy_rows(Range rows, const unsigned char* src, unsigned char* dst) const;
  /// Elements to where a row begins in the source and in the destination.
  std::pair<int64_t, int64_t> offsets_of(int64_t row) const;

  std::array<Axis, 2 * Shape::kMaxRank> outer_{};
  int outer_rank_ = 0;
  Axis row_;
  int64_t rows_ = 1;
  int64_t src_offset_ = 0;
  int64_t dst_offset_ = 0;
  int64_t element_bytes_ = 0;
};

/// The kernel of an op that is one copy, from element `src_offset` on.
std::unique_ptr<Kernel> make_copy_kernel(std::span<const StridedCopy::Axis> axes, int64_t src_offset,
                                         const program::Kernel& kernel, const CpuContext& context);

/// Elements between neighbours along each axis of a plain tensor.
std::array<int64_t, Shape::kMaxRank> plain_strides(const Shape& shape);

}  // namespace plimsoll::backends::cpu
