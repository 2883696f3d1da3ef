#pragma once

#include <algorithm>
#include <cstdint>

namespace plimsoll::ops {

/// Logits that linear_cross_entropy makes at a time, at the most: small against a model, yet so many rows that reading
/// the weight again, and adding to its gradient again, for every chunk costs little (with 128 rows of 50,257 classes 6
/// % more time than with 256, which fit).
inline constexpr int64_t kLogitsChunkBytes = int64_t{64} << 20;
/// Chunks are whole multiples of this many rows, so that matrix products run on full tiles, or, where as many fit, of
/// kLogitsChunkBlock, which products take at a time.
inline constexpr int64_t kLogitsChunkStep = 16;
inline constexpr int64_t kLogitsChunkBlock = 256;

/// Rows of logits in a chunk: `chunk_rows` where that is not 0, else as many as kLogitsChunkBytes hold, cut so that all
/// chunks are about equal. At least 1, at most max(rows, 1). A function of the shape alone.
///
/// Example: 400 rows of 50,257 classes: 333 rows fit, 256 in whole blocks, so 2 chunks are needed, of 208 rows each.
inline int64_t logits_chunk_rows(int64_t rows, int64_t classes, int64_t chunk_rows) {
  const int64_t all = std::max<int64_t>(rows, 1);
  if (chunk_rows > 0) return std::min(chunk_rows, all);
  const auto round_up = [](int64_t n, int64_t step) { return (n + step - 1) / step * step; };
  const int64_t fitting = kLogitsChunkBytes / 4 / std::max<int64_t>(classes, 1);
  const int64_t step = fitting >= kLogitsChunkBlock ? kLogitsChunkBlock : kLogitsChunkStep;
  const int64_t most = std::max(fitting / step * step, kLogitsChunkStep);
  const int64_t chunks = (all + most - 1) / most;
  return std::min(all, round_up((all + chunks - 1) / chunks, kLogitsChunkStep));
}

}  // namespace plimsoll::ops
