#pragma once

#include "backends/cpu/cut.h"
#include "ops/nn/attention.h"

namespace plimsoll::backends::cpu {

/// Operands of attention where query t sees the first t + 1 + offset keys.
struct AttentionForward {
  ops::AttentionSizes sizes;
  int64_t offset = 0;
  float scale = 1;
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  const int32_t* mask = nullptr;  ///< [batch, keys], or nullptr
  float* o = nullptr;
  float* lse = nullptr;  ///< or nullptr

  int64_t seen(int64_t t) const { return std::clamp<int64_t>(t + 1 + offset, 0, sizes.keys); }
  int64_t row_stride() const { return sizes.heads * sizes.head_size; }
};

/// The offset with which the last query sees all keys, and, where not causal, every query does.
inline int64_t attention_offset(const ops::AttentionSizes& sizes, bool causal) {
  return causal ? sizes.keys - sizes.queries : sizes.keys;
}

/// Queries of one task.
inline constexpr int64_t kQueryTile = 64;

/// One task of attention: every query tile of every head of every batch element is one.
///
/// Memory: the tile of scores (32 KiB) is on the stack; no more than kQueryTile × 128 scores ever exist in a thread.
/// Source: Dao, "FlashAttention-2", 2023, algorithm 1.
void attend(const AttentionForward& attention, int64_t task);

/// So many tasks cover `sizes`.
inline int64_t attention_tasks(const ops::AttentionSizes& sizes) {
  return sizes.batch * sizes.heads * Cut(sizes.queries, kQueryTile).tasks();
}

}  // namespace plimsoll::backends::cpu
