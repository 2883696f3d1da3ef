#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/op_table.h"
#include "ops/workspace.h"

namespace plimsoll::ops {

/// Extents of attention: q and o are [batch, queries, heads, head_size], k and v are [batch, keys, heads, head_size].
struct AttentionSizes {
  int64_t batch = 0, queries = 0, keys = 0, heads = 0, head_size = 0;

  int64_t q_at(int64_t b, int64_t t, int64_t h) const { return ((b * queries + t) * heads + h) * head_size; }
  int64_t k_at(int64_t b, int64_t s, int64_t h) const { return ((b * keys + s) * heads + h) * head_size; }
  int64_t lse_at(int64_t b, int64_t t, int64_t h) const { return (b * heads + h) * queries + t; }
  /// Of the weights as if they were stored, [batch, heads, queries, keys]: the order in which dropout counts them.
  int64_t weight_at(int64_t b, int64_t t, int64_t h, int64_t s) const { return lse_at(b, t, h) * keys + s; }
  int64_t weights() const { return batch * heads * queries * keys; }
};

/// Requires: q and k have four axes.
inline AttentionSizes attention_sizes(const Shape& q, const Shape& k) {
  return {.batch = q[0], .queries = q[1], .keys = k[1], .heads = q[2], .head_size = q[3]};
}

/// The factor on q · k: the attribute, or 1 / sqrt(head_size) where it is 0.
inline double attention_scale(double attribute, int64_t head_size) {
  return attribute != 0 ? attribute : 1 / std::sqrt(static_cast<double>(head_size));
}

/// How many of the first keys query `t` may see; the last query sees all, so with fewer queries than keys the queries
/// are the last positions. Example: 2 queries, 5 keys: query 0 sees 4, query 1 sees 5.
inline int64_t visible_keys(const AttentionSizes& sizes, int64_t t, bool causal) {
  return causal ? std::clamp<int64_t>(t + 1 + sizes.keys - sizes.queries, 0, sizes.keys) : sizes.keys;
}

/// (query, key) pairs of one head of one batch element for which a score is needed.
int64_t visible_pairs(const AttentionSizes& sizes, bool causal);

/// Refuses q, k, v that are not f32 of four axes which fit each other, and an empty head.
Status check_attention_srcs(std::string_view op, std::span<const TensorDesc> qkv, std::string_view k_name,
                            std::string_view v_name);

/// The rules of attention and of its gradient, for ops that are these on other layouts.
const OpDef& attention_def();
const OpDef& attention_grad_def();

/// Step scalars that end the sources where weights are dropped: seed, step and microbatch.
inline constexpr size_t kAttentionScalars = 3;

/// Whether, after the `required` sources that are always there, a mask comes (before the scalars, if any).
inline bool has_attention_mask(size_t srcs, size_t required, double dropout) {
  return srcs == required + 1 + (dropout > 0 ? kAttentionScalars : 0);
}

/// Refuses a dropout outside [0, 1), and what follows the `required` sources where it is not mask and scalars.
Status check_attention_extras(std::string_view op, const OpCall& call, size_t required, const AttentionSizes& sizes);

/// The most that a streaming kernel may ask for: tiles of kAttentionTile queries and keys for each of kMostTasks tasks,
/// with `score_tiles` tiles of scores and `row_tiles` tiles of vectors.
int64_t attention_tile_bytes(const AttentionSizes& sizes, int64_t score_tiles, int64_t row_tiles);

/// Queries, or keys, of a tile at the most.
inline constexpr int64_t kAttentionTile = 128;

/// The probabilities of one query, 0 for keys that it does not see, and the logarithm of their denominator; -inf where
/// it sees no key.
struct AttentionRow {
  std::vector<double> probabilities;
  double lse = 0;
};

/// `scores` and `is_visible` hold one element a key.
AttentionRow softmax_of_visible(std::vector<double> scores, const std::vector<bool>& is_visible);

}  // namespace plimsoll::ops
