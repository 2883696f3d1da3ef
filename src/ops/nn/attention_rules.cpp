// What attention, its gradient and cached_attention share.
#include <array>
#include <limits>
#include <string>

#include "ops/expect.h"
#include "ops/nn/attention.h"

namespace plimsoll::ops {

int64_t visible_pairs(const AttentionSizes& sizes, bool causal) {
  if (!causal) return sizes.queries * sizes.keys;
  // Queries see first, first + 1, …, keys; where that begins below 1, the queries before see nothing.
  const int64_t first = std::max<int64_t>(1, 1 + sizes.keys - sizes.queries);
  return sizes.queries == 0 ? 0 : (first + sizes.keys) * (sizes.keys - first + 1) / 2;
}

Status check_attention_srcs(std::string_view op, std::span<const TensorDesc> qkv, std::string_view k_name,
                            std::string_view v_name) {
  const TensorDesc &q = qkv[0], &k = qkv[1];
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, "q", q, DType::kF32, 4, "[B,T,H,D]"));
  PLIMSOLL_RETURN_IF_ERROR(expect_axes(op, k_name, k, DType::kF32, 4, "[B,S,H,D]"));
  const TensorDesc expected{DType::kF32, {q.shape[0], k.shape[1], q.shape[2], q.shape[3]}, {}};
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, k_name, k, expected));
  PLIMSOLL_RETURN_IF_ERROR(expect_desc(op, v_name, qkv[2], expected));
  if (q.shape[3] >= 1) return {};
  return invalid_argument("[" + std::string(op) + "] q is " + to_string(q) + "; expected a last axis of 1 or more");
}

Status check_attention_extras(std::string_view op, const OpCall& call, size_t required, const AttentionSizes& sizes) {
  const double p = call.attributes.get_float("dropout");
  const std::string in = "[" + std::string(op) + "] ";
  if (!(p >= 0 && p < 1))
    return invalid_argument(in + "dropout is " + to_string(Attribute(p)) + "; expected 0 <= dropout < 1");
  const bool has_mask = has_attention_mask(call.srcs.size(), required, p);
  const size_t scalars = required + (has_mask ? 1 : 0);
  if (call.srcs.size() != scalars + (p > 0 ? kAttentionScalars : 0))
    return invalid_argument(in + "dropout " + to_string(Attribute(p)) + " with " + std::to_string(call.srcs.size()) +
                            " inputs; expected seed, step and microbatch as the last ones where dropout is above 0, " +
                            "and only there");
  if (has_mask)
    PLIMSOLL_RETURN_IF_ERROR(
        expect_desc(op, "mask", call.srcs[required], {DType::kI32, {sizes.batch, sizes.keys}, {}}));
  for (size_t i = scalars; i < call.srcs.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(
        expect_desc(op, std::array{"seed", "step", "microbatch"}[i - scalars], call.srcs[i], {DType::kI64, {}, {}}));
  return {};
}

int64_t attention_tile_bytes(const AttentionSizes& sizes, int64_t score_tiles, int64_t row_tiles) {
  const int64_t rows = std::min(kAttentionTile, std::max(sizes.queries, sizes.keys));
  // A backend may round tiles up to whole vectors.
  const int64_t padded_rows = (rows + 15) / 16 * 16;
  const int64_t padded_head = (sizes.head_size + 15) / 16 * 16;
  const int64_t tiles_of_queries = (sizes.queries + 15) / 16;
  const int64_t tasks = std::min(kMostTasks, sizes.batch * sizes.heads * std::max<int64_t>(tiles_of_queries, 1));
  // Two more columns: the running maximum and sum of each row.
  const int64_t floats =
      score_tiles * padded_rows * padded_rows + row_tiles * padded_rows * padded_head + 2 * padded_rows;
  return tasks * floats * static_cast<int64_t>(sizeof(float));
}

AttentionRow softmax_of_visible(std::vector<double> scores, const std::vector<bool>& is_visible) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double most = -kInfinity, sum = 0;
  for (size_t s = 0; s < scores.size(); ++s)
    if (is_visible[s]) most = std::max(most, scores[s]);
  for (size_t s = 0; s < scores.size(); ++s) {
    scores[s] = is_visible[s] ? std::exp(scores[s] - most) : 0;
    sum += scores[s];
  }
  if (sum == 0) return {std::move(scores), -kInfinity};
  for (double& score : scores) score /= sum;
  return {std::move(scores), most + std::log(sum)};
}

}  // namespace plimsoll::ops
