#include "backends/cpu/reduce_loop.h"

namespace plimsoll::backends::cpu {

ReduceLoop::ReduceLoop(const Shape& src, const std::array<bool, Shape::kMaxRank>& is_reduced) {
  bool last_was_reduced = false;
  bool has_last = false;
  for (int axis = 0; axis < src.rank(); ++axis) {
    const int64_t extent = src[axis];
    if (extent == 1) continue;
    const bool reduces = is_reduced[static_cast<size_t>(axis)];
    (reduces ? reduced_ : outputs_) *= extent;
    Axes& axes = reduces ? reduced_axes_ : kept_;
    int& rank = reduces ? reduced_rank_ : kept_rank_;
    if (has_last && last_was_reduced == reduces)
      axes[static_cast<size_t>(rank - 1)].extent *= extent;
    else
      axes[static_cast<size_t>(rank++)].extent = extent;
    axes[static_cast<size_t>(rank - 1)].stride = src.numel_between(axis + 1, src.rank());
    last_was_reduced = reduces;
    has_last = true;
  }
  columns_inside_ = has_last && !last_was_reduced;
  if (kept_rank_ > 0) inner_ = std::max<int64_t>(1, kept_[static_cast<size_t>(kept_rank_ - 1)].extent);
  // Where there is nothing to reduce, one empty slice gives every output its start.
  if (reduced_ > 0 && reduced_rank_ > 0) slices_ = reduced_axes_[0].extent;
}

}  // namespace plimsoll::backends::cpu
