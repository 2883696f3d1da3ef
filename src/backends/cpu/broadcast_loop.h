#pragma once

#include <array>
#include <span>

#include "core/shape.h"
#include "core/tensor_desc.h"

namespace plimsoll::backends::cpu {

/// How the elements of broadcast sources lie beside those of a plain destination, in as few axes as possible.
///
/// Neighbouring axes that every source walks alike are one. Example: [8,128] + [128] has the axes 8 and 128, where the
/// second source's strides are 0 and 1; [8,128] + [] has the one axis 1024 with strides 1 and 0.
class BroadcastLoop {
 public:
  static constexpr size_t kMaxSrcs = 3;

  /// Requires: every source broadcasts to `dst`, at most kMaxSrcs of them, all plain.
  BroadcastLoop(std::span<const TensorDesc> srcs, const Shape& dst);

  int64_t numel() const { return outer_numel_ * row_; }
  /// Elements of the innermost axis.
  int64_t row() const { return row_; }
  /// Whether source `src` stays at one element throughout a row.
  bool stays(size_t src) const { return !moves_[src]; }

  /// Calls row(offsets, begin, count) for the rows, or parts of rows, that make up destination elements [begin, end):
  /// `offsets` are the elements of the sources where the part begins.
  template <class Body>
  void for_rows(int64_t begin, int64_t end, const Body& body) const {
    while (begin < end) {
      const int64_t outer = begin / row_;
      const int64_t within = begin - outer * row_;
      const int64_t count = std::min(end - begin, row_ - within);
      std::array<int64_t, kMaxSrcs> offsets = offsets_of(outer);
      for (size_t s = 0; s < kMaxSrcs; ++s) offsets[s] += moves_[s] ? within : 0;
      body(offsets, begin, count);
      begin += count;
    }
  }

 private:
  std::array<int64_t, kMaxSrcs> offsets_of(int64_t outer) const;

  struct Axis {
    int64_t extent = 1;
    std::array<int64_t, kMaxSrcs> strides{};
  };
  int outer_rank_ = 0;
  std::array<Axis, Shape::kMaxRank> outer_{};  ///< innermost first
  int64_t outer_numel_ = 1;
  int64_t row_ = 1;
  std::array<bool, kMaxSrcs> moves_{};
};

}  // namespace plimsoll::backends::cpu
