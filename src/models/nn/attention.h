#pragma once

#include "models/nn/layers.h"

namespace plimsoll::models::nn {

/// Queries, keys and values, each [B,T,H,D].
struct Heads {
  ValueId q, k, v;
};

/// Cuts one projection into heads. Shapes: qkv [B,T,3·H·D].
Heads split_heads(ModelBuilder& b, ValueId qkv, int64_t heads);

/// Views three projections as heads. Shapes: q, k, v [B,T,H·D].
Heads view_as_heads(ModelBuilder& b, ValueId q, ValueId k, ValueId v, int64_t heads);

struct AttendOptions {
  bool is_causal = false;
  ValueId mask = {};   ///< i32 [B,T], 1 where a key may be seen; invalid: everywhere
  double dropout = 0;  ///< of the weights; above 0 the step scalars seed, step and microbatch are read
};

/// softmax(q · kᵀ / sqrt(D)) · v in streaming form. Returns: [B,T,H·D]. The mask of dropout belongs to the node's path.
///
/// Source: Vaswani et al., Attention Is All You Need, 2017, equation 1.
ValueId attend(ModelBuilder& b, const Heads& heads, const AttendOptions& options);

/// Causal attention of T new positions over what was there before: rows position … position + T - 1 of the states
/// "k_cache" and "v_cache" [B,context,H,D] become the new keys and values; reads the step scalar position.
///
/// Returns: [B,T,H·D].
ValueId attend_cached(ModelBuilder& b, const Heads& heads, int64_t context);

}  // namespace plimsoll::models::nn
