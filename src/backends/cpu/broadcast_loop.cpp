#include "backends/cpu/broadcast_loop.h"

namespace plimsoll::backends::cpu {
namespace {

/// The stride of each destination axis in a source, 0 where the source repeats along it; innermost first.
std::array<int64_t, Shape::kMaxRank> strides_of(const Shape& src, int rank) {
  std::array<int64_t, Shape::kMaxRank> out{};
  int64_t stride = 1;
  for (int i = 0; i < rank && i < src.rank(); ++i) {
    const int64_t extent = src.at(-1 - i);
    out[static_cast<size_t>(i)] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return out;
}

}  // namespace

BroadcastLoop::BroadcastLoop(std::span<const TensorDesc> srcs, const Shape& dst) {
  PLIMSOLL_CHECK(srcs.size() <= kMaxSrcs, srcs.size());
  std::array<std::array<int64_t, Shape::kMaxRank>, kMaxSrcs> strides{};
  for (size_t s = 0; s < srcs.size(); ++s) strides[s] = strides_of(srcs[s].shape, dst.rank());

  std::array<Axis, Shape::kMaxRank> axes{};
  size_t count = 0;
  for (int i = 0; i < dst.rank(); ++i) {
    Axis axis{.extent = dst.at(-1 - i)};
    if (axis.extent == 1) continue;
    bool joins = count > 0;
    for (size_t s = 0; s < kMaxSrcs; ++s) {
      axis.strides[s] = strides[s][static_cast<size_t>(i)];
      if (joins) joins = axis.strides[s] == axes[count - 1].strides[s] * axes[count - 1].extent;
    }
    if (joins)
      axes[count - 1].extent *= axis.extent;
    else
      axes[count++] = axis;
  }
  if (count == 0) return;
  row_ = axes[0].extent;
  for (size_t s = 0; s < kMaxSrcs; ++s) moves_[s] = axes[0].strides[s] != 0;
  for (size_t i = 1; i < count; ++i) {
    outer_[i - 1] = axes[i];
    outer_numel_ *= axes[i].extent;
  }
  outer_rank_ = static_cast<int>(count) - 1;
}

std::array<int64_t, BroadcastLoop::kMaxSrcs> BroadcastLoop::offsets_of(int64_t outer) const {
  std::array<int64_t, kMaxSrcs> out{};
  for (int i = 0; i < outer_rank_; ++i) {
    const Axis& axis = outer_[static_cast<size_t>(i)];
    const int64_t index = outer % axis.extent;
    outer /= axis.extent;
    for (size_t s = 0; s < kMaxSrcs; ++s) out[s] += index * axis.strides[s];
  }
  return out;
}

}  // namespace plimsoll::backends::cpu
