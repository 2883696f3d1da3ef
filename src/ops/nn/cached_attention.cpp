// cached_attention: attention of fresh queries over a key/value cache, for generation.
#include "ops/expect.h"
#include "ops/nn/attention.h"
#include "ops/op_table.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {
namespace {

enum Src : size_t { kQ, kKCache, kVCache, kPosition };

AttentionSizes sizes_of(const OpCall& call) { return attention_sizes(call.srcs[kQ].shape, call.srcs[kKCache].shape); }

Result<std::vector<TensorDesc>> infer(const OpCall& call) {
  PLIMSOLL_RETURN_IF_ERROR(check_attention_srcs("cached_attention", call.srcs.first(3), "k_cache", "v_cache"));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc("cached_attention", "position", call.srcs[kPosition], {DType::kI64, {}, {}}));
  return std::vector<TensorDesc>{call.srcs[kQ]};
}

/// As if the cache were full: the position is not known ahead.
Cost cost(const OpCall& call) {
  const AttentionSizes sizes = sizes_of(call);
  return {.flops = sizes.batch * sizes.heads * visible_pairs(sizes, false) * (4 * sizes.head_size + 5),
          .bytes = moved_bytes(call)};
}

/// Tiles, or the scores of a query over the whole cache: with few queries that is what a kernel wants.
int64_t workspace_bound(const OpCall& call) {
  const AttentionSizes sizes = sizes_of(call);
  return attention_tile_bytes(sizes, 1, 4) + std::min(kMostTasks, sizes.batch * sizes.heads * sizes.queries) *
                                                 (sizes.keys + 15) / 16 * 16 * static_cast<int64_t>(sizeof(float));
}

void evaluate(std::span<const Array> srcs, std::span<Array> dsts, const Attributes& attributes) {
  const AttentionSizes sizes = attention_sizes(srcs[kQ].desc.shape, srcs[kKCache].desc.shape);
  const double scale = attention_scale(attributes.get_float("scale"), sizes.head_size);
  const auto position = static_cast<int64_t>(srcs[kPosition][0]);
  for (int64_t i = 0; i < sizes.batch * sizes.queries * sizes.heads; ++i) {
    const int64_t h = i % sizes.heads, t = i / sizes.heads % sizes.queries, b = i / sizes.heads / sizes.queries;
    const int64_t q = sizes.q_at(b, t, h);
    std::vector<double> scores(static_cast<size_t>(std::clamp<int64_t>(position + t + 1, 0, sizes.keys)));
    for (size_t s = 0; s < scores.size(); ++s)
      for (int64_t j = 0; j < sizes.head_size; ++j)
        scores[s] += scale * srcs[kQ][q + j] * srcs[kKCache][sizes.k_at(b, static_cast<int64_t>(s), h) + j];
    const std::vector<bool> all(scores.size(), true);
    const AttentionRow row = softmax_of_visible(std::move(scores), all);
    for (size_t s = 0; s < row.probabilities.size(); ++s)
      for (int64_t j = 0; j < sizes.head_size; ++j)
        dsts[0][q + j] += row.probabilities[s] * srcs[kVCache][sizes.k_at(b, static_cast<int64_t>(s), h) + j];
  }
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  const auto add = [&](const Shape& q, int64_t keys, double position, Attributes attributes = {}) {
    const Shape cache{q[0], keys, q[2], q[3]};
    out.push_back(
        {.srcs = {f32_src(q, -2, 2), f32_src(cache, -2, 2), f32_src(cache), scalar_src(DType::kI64, position)},
         .attributes = std::move(attributes)});
  };
  for (const double position : {0.0, 1.0, 5.0, 16.0}) add({2, 1, 3, 7}, 17, position);
  add({1, 7, 2, 4}, 17, 0);  // a prompt
  add({1, 7, 2, 4}, 17, 10);
  add({1, 7, 2, 4}, 17, 12);  // past the end: the last queries see the whole cache
  add({1, 1, 1, 1}, 1, 0);
  add({1, 2, 1, 64}, 1025, 1000);
  add({1, 1, 2, 17}, 1025, 1024, {{"scale", 0.5}});
  add({0, 1, 1, 4}, 8, 3);
  add({1, 0, 1, 4}, 8, 3);
  return out;
}

}  // namespace

void define_cached_attention(OpTable& table) {
  table.add({.name = "cached_attention",
             .doc = "attention where query t sees the cache's rows 0 … position + t",
             .srcs = {"q", "k_cache", "v_cache", "position"},
             .dsts = {"o"},
             .attributes = {{.name = "scale", .default_value = 0.0, .doc = "factor on q · k; 0 means 1 / sqrt(D)"}},
             .infer = infer,
             .cost = cost,
             .workspace_bound = workspace_bound,
             .chunkable =
                 [](const OpCall&) {
                   return std::vector<ChunkableAxis>{{.dst_axis = 0, .src_axes = {0, 0, 0, -1}},
                                                     {.dst_axis = 2, .src_axes = {2, 2, 2, -1}}};
                 },
             .evaluate = evaluate,
             .samples = samples});
}

}  // namespace plimsoll::ops
