// The innermost loop of matrix products: a tile of dst in registers; included once per instruction set, like simd.h.
#if defined(PLIMSOLL_BACKENDS_CPU_PRODUCT_TILE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_BACKENDS_CPU_PRODUCT_TILE_H
#undef PLIMSOLL_BACKENDS_CPU_PRODUCT_TILE_H
#else
#define PLIMSOLL_BACKENDS_CPU_PRODUCT_TILE_H
#endif

#include <array>
#include <utility>

#include "backends/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::backends::cpu {
namespace HWY_NAMESPACE {

/// A tile takes 2 vectors a row: with 6 rows 12 of 16 registers, with 12 rows 24 of 32.
constexpr int64_t kVectorLanes = HWY_MAX_BYTES / sizeof(float);
constexpr int64_t kTileColumns = 2 * kVectorLanes;
constexpr int64_t kTileRows = HWY_MAX_BYTES >= 64 ? 12 : 6;

/// What the tiles of a strip share. The packed rows of a are [depth, kTileRows], the strip of b [depth, kTileColumns].
struct Tile {
  int64_t depth;
  const float* b;
  const float* bias;  ///< or nullptr
  int64_t stride;     ///< of dst
  bool adds;          ///< to what dst holds
};

template <size_t... row>
HWY_INLINE void multiply_tile_rows(std::index_sequence<row...>, const Tile& tile, const float* HWY_RESTRICT a,
                                   float* HWY_RESTRICT dst) {
  const F32 d;
  const int64_t stride = tile.stride;
  VF left[sizeof...(row)], right[sizeof...(row)];
  ((left[row] = right[row] = hn::Zero(d)), ...);
  (__builtin_prefetch(dst + static_cast<int64_t>(row) * stride, 1), ...);
  const float* HWY_RESTRICT b = tile.b;
#pragma GCC unroll 4
  for (int64_t i = 0; i < tile.depth; ++i) {
    const VF b_left = hn::Load(d, b);
    const VF b_right = hn::Load(d, b + kVectorLanes);
    const auto multiply_add = [&](float x, VF& l, VF& r) HWY_ATTR {
      const VF each = hn::Set(d, x);
      l = hn::MulAdd(each, b_left, l);
      r = hn::MulAdd(each, b_right, r);
    };
    (multiply_add(a[row], left[row], right[row]), ...);
    a += kTileRows;
    b += kTileColumns;
  }
  const auto add = [&](int64_t i, const float* from, VF& l, VF& r) HWY_ATTR {
    l = hn::Add(l, hn::LoadU(d, from + i * stride));
    r = hn::Add(r, hn::LoadU(d, from + i * stride + kVectorLanes));
  };
  if (tile.adds) (add(static_cast<int64_t>(row), dst, left[row], right[row]), ...);
  if (tile.bias != nullptr) {
    const VF l = hn::LoadU(d, tile.bias), r = hn::LoadU(d, tile.bias + kVectorLanes);
    ((left[row] = hn::Add(left[row], l), right[row] = hn::Add(right[row], r)), ...);
  }
  (hn::StoreU(left[row], d, dst + static_cast<int64_t>(row) * stride), ...);
  (hn::StoreU(right[row], d, dst + static_cast<int64_t>(row) * stride + kVectorLanes), ...);
}

template <size_t rows>
void multiply_tile_of(const Tile& tile, const float* a, float* dst) {
  multiply_tile_rows(std::make_index_sequence<rows>(), tile, a, dst);
}

template <size_t... index>
constexpr auto tile_functions(std::index_sequence<index...>) {
  return std::array<void (*)(const Tile&, const float*, float*), sizeof...(index)>{&multiply_tile_of<index + 1>...};
}

/// `rows` (1 to kTileRows) rows of dst, of kTileColumns columns.
inline void multiply_tile(int64_t rows, const Tile& tile, const float* a, float* dst) {
  static constexpr auto kFunctions = tile_functions(std::make_index_sequence<kTileRows>());
  kFunctions[static_cast<size_t>(rows - 1)](tile, a, dst);
}

/// The same with fewer columns, through a tile of its own; the same bits.
inline void multiply_narrow_tile(int64_t rows, int64_t columns, const Tile& tile, const float* a, float* dst) {
  HWY_ALIGN float room[kTileRows * kTileColumns];
  multiply_tile(rows, {.depth = tile.depth, .b = tile.b, .bias = nullptr, .stride = kTileColumns, .adds = false}, a,
                room);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      float sum = room[i * kTileColumns + j];
      if (tile.adds) sum += dst[i * tile.stride + j];
      if (tile.bias != nullptr) sum += tile.bias[j];
      dst[i * tile.stride + j] = sum;
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace plimsoll::backends::cpu
HWY_AFTER_NAMESPACE();

#endif
