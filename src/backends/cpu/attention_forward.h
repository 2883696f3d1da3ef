#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/cut.h"
#include "backends/cpu/dropout_draw.h"
#include "backends/cpu/product.h"
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
  int64_t src_stride = 0;         ///< elements between rows of q, k and v; 0: they have their own, as o
  const int32_t* mask = nullptr;  ///< [batch, keys], or nullptr
  float* o = nullptr;
  float* lse = nullptr;                     ///< or nullptr
  std::optional<DropoutDraw> dropout = {};  ///< of the weights

  int64_t seen(int64_t t) const { return std::clamp<int64_t>(t + 1 + offset, 0, sizes.keys); }
  int64_t row_stride() const { return sizes.heads * sizes.head_size; }
  int64_t src_row_stride() const { return src_stride != 0 ? src_stride : row_stride(); }
};

/// The factor on q · k that the kernel's attributes ask for.
inline float attention_scale(const program::Kernel& kernel, const ops::AttentionSizes& sizes) {
  return static_cast<float>(ops::attention_scale(kernel.attributes.get_float("scale"), sizes.head_size));
}

/// What attention and its gradient decide alike.
struct AttentionSettings {
  ops::AttentionSizes sizes;
  float scale;
  bool causal;
  bool has_mask;
  std::optional<Dropout> dropout;  ///< of the weights

  int64_t src_stride;  ///< elements between rows of q, k and v

  /// `required`: the kernel's sources that are always there.
  AttentionSettings(const program::Kernel& kernel, size_t required, const ops::AttentionSizes& extents)
      : sizes(extents),
        scale(attention_scale(kernel, sizes)),
        causal(kernel.attributes.get_bool("causal")),
        src_stride(sizes.heads * sizes.head_size) {
    const double p = kernel.attributes.get_float("dropout");
    has_mask = ops::has_attention_mask(kernel.srcs.size(), required, p);
    if (p != 0) dropout.emplace(p, kernel.attributes.get_string("path"), sizes.weights());
  }

  /// The dropout of one launch, if there is any; the step scalars are the last of the kernel's sources.
  std::optional<DropoutDraw> draw(const LaunchArgs& args) const {
    if (!dropout) return std::nullopt;
    return dropout->draw(args, args.srcs.size() - ops::kAttentionScalars);
  }
};

/// The extents of a kernel whose first source holds q, k and v side by side.
inline ops::AttentionSizes packed_attention_sizes(const program::Kernel& kernel) {
  const Shape& qkv = kernel.srcs[0].shape;
  const int64_t heads = kernel.attributes.get_int("heads");
  return {.batch = qkv[0], .queries = qkv[1], .keys = qkv[1], .heads = heads, .head_size = qkv[2] / 3 / heads};
}

/// The settings of such a kernel, where `required` sources are always there.
inline AttentionSettings packed_attention_settings(const program::Kernel& kernel, size_t required) {
  AttentionSettings out(kernel, required, packed_attention_sizes(kernel));
  out.src_stride = kernel.srcs[0].shape[2];
  return out;
}

/// The offset with which the last query sees all keys, and, where not causal, every query does.
inline int64_t attention_offset(const ops::AttentionSizes& sizes, bool causal) {
  return causal ? sizes.keys - sizes.queries : sizes.keys;
}

/// Queries of a unit of work.
inline constexpr int64_t kQueryTile = 64;

/// All of attention, on the pool; a unit of work is one query tile of one head of one batch element.
///
/// Memory: `workspace` of attend_bytes, in which each thread has a tile (120 KiB at head size 64) with at most
/// kQueryTile × 128 scores. Source: Dao, "FlashAttention-2", 2023, algorithm 1.
void attend(const AttentionForward& attention, ThreadPool& pool, void* workspace);
int64_t attend_bytes(const ops::AttentionSizes& sizes, int threads);

}  // namespace plimsoll::backends::cpu
