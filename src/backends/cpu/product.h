#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/cpu/cut.h"
#include "core/function_ref.h"

namespace plimsoll::backends::cpu {

/// A matrix in memory: element (i, j) is data[i · stride + j], or data[j · stride + i] where it is transposed.
struct Matrix {
  const float* data = nullptr;
  int64_t stride = 0;
  bool is_transposed = false;
};

/// Called when columns of some rows of a product have their values, while the caches still hold them.
using FinishedBlock = FunctionRef<void(Range rows, Range columns)>;

/// dst[m,n] = a[m,k] · b[k,n] + bias[n], or added to dst; one task's product, on the calling thread alone.
///
/// Shapes: row i of dst begins at dst + i · stride. An empty sum is 0. Any size and alignment.
/// Memory: `room` of product_room_numel(m, k) f32 on a cache line's border; nothing else is taken.
/// Order: the bits of an element depend on its row of a, its column of b, k, and on whether m <= kFewRows, not on where
/// a product is cut into rows and columns. With more rows they are the same on every processor with fused
/// multiply-adds: the products of a block of depth are added up one after the other, and the blocks' sums in turn.
/// Cost: 2mnk flops at 0.85 to 0.9 of the processor's multiply-adds from sizes of 100 on; up to kFewRows rows are
/// limited by reading b.
/// Column sums are made of the packed strips of b, so they cost no memory traffic, and their bits are as those of dst.
/// Requires: a is transposed, m > 0 and k > 0 where they are wanted.
/// Source: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008: packed panels, of which
/// one stays in the first-level cache and a block in the second.
struct Product {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Matrix a;
  Matrix b;
  const float* bias = nullptr;  ///< or none
  float* dst = nullptr;
  int64_t stride = 0;
  bool accumulate = false;
  float* room = nullptr;
  const FinishedBlock* finished = nullptr;  ///< or none
  float* column_sums = nullptr;             ///< n elements that take the sums of b's columns, or none: see below
  bool adds_to_sums = false;
};
void multiply(const Product& product);

/// Products of one pass over a block of dst: a strip of b of this depth stays in 32 KiB.
inline constexpr int64_t kProductDepth = 384;
/// Rows of a that are packed at a time: 256 · 384 f32 leave room beside them in 512 KiB.
inline constexpr int64_t kProductRows = 256;
/// Up to so many rows, packing costs more than it saves.
inline constexpr int64_t kFewRows = 4;

/// f32 elements that `multiply` needs as room: a block of a and a strip of b, in whole tiles of any processor.
constexpr int64_t product_room_numel(int64_t m, int64_t k) {
  constexpr int64_t kMostTileRows = 16, kMostTileColumns = 32, kDepthStep = 4;
  return std::min(k + kDepthStep, kProductDepth) * (std::min(m, kProductRows) + kMostTileRows + kMostTileColumns);
}

}  // namespace plimsoll::backends::cpu
