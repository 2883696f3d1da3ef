#pragma once

#include <array>

#include "backends/cpu/cut.h"
#include "core/shape.h"

namespace plimsoll::backends::cpu {

/// Columns that a reduction over leading axes takes at once, one cache line of a row after the other; so many outputs'
/// f64 results a task holds.
constexpr int64_t kReduceColumns = 64;
/// Elements that are added up in f32 before their sum goes to f64: at most 128 a lane and accumulator.
constexpr int64_t kReduceBlock = 4096;

/// How the elements of a plain source fall into the outputs of a reduction over axes, in as few axes as possible.
///
/// Neighbouring axes that both stay, or are both reduced, are one. Example: [2,3,4,5] over axes {0,2,3} has the axes 2
/// (reduced), 3 (stays) and 20 (reduced). The innermost reduced axis of a piece is walked by the caller; the slices
/// into which the work can be cut are positions of the outermost reduced axis.
class ReduceLoop {
 public:
  ReduceLoop(const Shape& src, const std::array<bool, Shape::kMaxRank>& is_reduced);

  int64_t outputs() const { return outputs_; }
  int64_t reduced() const { return reduced_; }
  int64_t slices() const { return slices_; }
  /// Slices that belong together: a whole block where the elements themselves are the slices.
  int64_t slice_multiple() const { return reduced_rank_ == 1 && !columns_inside_ ? kReduceBlock : 1; }

  /// Elements for one output (columns 0): `rows` that follow each other; or for `columns` neighbouring outputs: `rows`
  /// rows that are `stride` apart.
  struct Piece {
    int64_t rows = 0;
    int64_t stride = 0;
    int64_t columns = 0;
  };

  /// Calls body(offset, output, piece) until all elements of `outputs` in `slice` were seen, in an order that depends
  /// on the ranges alone. Requires: outputs.size() <= kReduceColumns.
  template <class Body>
  void for_pieces(Range outputs, Range slice, const Body& body) const {
    if (reduced_ == 0) return;
    for (int64_t output = outputs.begin; output < outputs.end;) {
      int64_t columns = 0;
      if (columns_inside_) columns = std::min(outputs.end - output, inner_ - output % inner_);
      const int64_t kept = offset_of(kept_, kept_rank_, output);
      for_reduced(slice, [&](int64_t offset, int64_t rows, int64_t stride) {
        body(kept + offset, output, Piece{rows, stride, columns});
      });
      output += std::max<int64_t>(1, columns);
    }
  }

 private:
  struct Axis {
    int64_t extent = 1;
    int64_t stride = 0;
  };
  using Axes = std::array<Axis, Shape::kMaxRank>;  ///< outermost first

  static int64_t offset_of(const Axes& axes, int rank, int64_t index) {
    int64_t offset = 0;
    for (int i = rank - 1; i >= 0; --i) {
      const Axis& axis = axes[static_cast<size_t>(i)];
      offset += index % axis.extent * axis.stride;
      index /= axis.extent;
    }
    return offset;
  }

  /// The runs along the innermost reduced axis.
  template <class Body>
  void for_reduced(Range slice, const Body& body) const {
    if (reduced_rank_ == 0) return body(0, 1, 1);
    const Axis& last = reduced_axes_[static_cast<size_t>(reduced_rank_ - 1)];
    if (reduced_rank_ == 1) return body(slice.begin * last.stride, slice.size(), last.stride);
    const int64_t runs = reduced_ / slices_ / last.extent;
    for (int64_t run = slice.begin * runs; run < slice.end * runs; ++run)
      body(offset_of(reduced_axes_, reduced_rank_ - 1, run), last.extent, last.stride);
  }

  Axes kept_{};
  Axes reduced_axes_{};
  int kept_rank_ = 0;
  int reduced_rank_ = 0;
  int64_t outputs_ = 1;
  int64_t reduced_ = 1;
  int64_t slices_ = 1;
  int64_t inner_ = 1;  ///< extent of the innermost axis that stays
  bool columns_inside_ = false;
};

}  // namespace plimsoll::backends::cpu
