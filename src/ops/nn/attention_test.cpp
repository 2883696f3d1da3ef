#include <cmath>
#include <limits>

#include "ops/nn/attention.h"
#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One head as matrix products and an ordinary softmax of the whole [T,S] matrix; hidden scores are -1e30.
Array naive_head(const Array& q, const Array& k, const Array& v, const std::vector<std::vector<bool>>& sees) {
  Array scores = run_op("matmul", {q, k}, {{"transpose_b", true}})[0];
  const int64_t keys = k.desc.shape[0];
  for (int64_t i = 0; i < scores.numel(); ++i) {
    const bool is_seen = sees[static_cast<size_t>(i / keys)][static_cast<size_t>(i % keys)];
    scores[i] = is_seen ? scores[i] / std::sqrt(static_cast<double>(q.desc.shape[1])) : -1e30;
  }
  return run_op("matmul", {run_op("softmax", {scores})[0], v})[0];
}

Array as_matrix(const Array& heads, int64_t head) {
  const Shape& shape = heads.desc.shape;
  Array out({DType::kF32, {shape[1], shape[3]}, {}});
  for (int64_t t = 0; t < shape[1]; ++t)
    for (int64_t i = 0; i < shape[3]; ++i) out[t * shape[3] + i] = heads[(t * shape[2] + head) * shape[3] + i];
  return out;
}

/// Compares both heads of attention with the naive form.
void expect_naive(int64_t queries, int64_t keys, bool causal, const std::vector<double>& mask) {
  const Array q = random_array({1, queries, 2, 3}, 1), k = random_array({1, keys, 2, 3}, 2);
  const Array v = random_array({1, keys, 2, 3}, 3);
  std::vector<Array> srcs{q, k, v};
  if (!mask.empty()) srcs.push_back(i32_array({1, keys}, mask));
  const auto dsts = run_op("attention", srcs, {{"causal", causal}});
  std::vector<std::vector<bool>> sees;
  for (int64_t t = 0; t < queries; ++t) {
    sees.emplace_back();
    for (int64_t s = 0; s < keys; ++s)
      sees.back().push_back((!causal || s <= t + keys - queries) &&
                            (mask.empty() || mask[static_cast<size_t>(s)] != 0));
  }
  for (const int64_t head : {0, 1})
    expect_near(as_matrix(dsts[0], head),
                naive_head(as_matrix(q, head), as_matrix(k, head), as_matrix(v, head), sees).data);
}

TEST(Attention, EqualsNaiveSoftmax) {
  expect_naive(5, 7, false, {});
  expect_naive(5, 7, false, {1, 0, 1, 1, 0, 0, 1});
}

TEST(Attention, CausalWithFewerQueriesThanKeysAlignsTheLast) {
  expect_naive(4, 4, true, {});
  expect_naive(3, 7, true, {});
  expect_naive(3, 7, true, {1, 0, 1, 1, 0, 0, 1});
}

TEST(Attention, LseIsTheLogarithmOfTheDenominator) {
  const Array q = f32_array({1, 1, 1, 1}, {2}), k = f32_array({1, 2, 1, 1}, {1, 3}),
              v = f32_array({1, 2, 1, 1}, {0, 1});
  const auto dsts = run_op("attention", {q, k, v}, {{"scale", 0.5}});
  expect_near(dsts[1], {std::log(std::exp(1) + std::exp(3))});
  expect_near(dsts[0], {std::exp(3) / (std::exp(1) + std::exp(3))});
}

TEST(Attention, QueryWithoutKeysGivesZeroAndNoNan) {
  const std::vector<Array> srcs{random_array({2, 3, 1, 2}, 1), random_array({2, 3, 1, 2}, 2),
                                random_array({2, 3, 1, 2}, 3), i32_array({2, 3}, {0, 0, 0, 1, 1, 1})};
  const auto dsts = run_op("attention", srcs);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(dsts[0][i], 0);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(dsts[1][i], -kInfinity);
  const auto rule = run_gradient("attention", srcs, {}, random_array({2, 3, 1, 2}, 4));
  for (size_t input = 0; input < 3; ++input)
    for (int64_t i = 0; i < 12; ++i) {
      const double d = rule.d_srcs[input][i];
      EXPECT_TRUE(i < 6 ? d == 0 : std::isfinite(d)) << "input " << input << ", element " << i;
    }
}

TEST(Attention, MoreQueriesThanKeysLeavesTheFirstWithoutKeys) {
  const auto dsts = run_op(
      "attention", {random_array({1, 3, 1, 2}, 1), random_array({1, 1, 1, 2}, 2), f32_array({1, 1, 1, 2}, {5, 6})},
      {{"causal", true}});
  expect_near(dsts[0], {0, 0, 0, 0, 5, 6});
}

TEST(Attention, CountsVisiblePairs) {
  for (const int64_t queries : {0, 1, 3, 8})
    for (const int64_t keys : {0, 1, 3, 8}) {
      const AttentionSizes sizes{.batch = 1, .queries = queries, .keys = keys, .heads = 1, .head_size = 1};
      int64_t causal = 0;
      for (int64_t t = 0; t < queries; ++t) causal += visible_keys(sizes, t, true);
      EXPECT_EQ(visible_pairs(sizes, true), causal) << queries << " queries, " << keys << " keys";
      EXPECT_EQ(visible_pairs(sizes, false), queries * keys);
    }
}

TEST(Attention, NamesTheInputThatDoesNotFit) {
  const TensorDesc q{DType::kF32, {2, 3, 4, 5}, {}}, k{DType::kF32, {2, 7, 4, 5}, {}}, flat{DType::kF32, {2, 3}, {}};
  EXPECT_EQ(refusal_of("attention", {q, k, q}), "[attention] v is f32[2,3,4,5]; expected f32[2,7,4,5]");
  EXPECT_EQ(refusal_of("attention", {flat, k, k}), "[attention] q is f32[2,3]; expected f32[B,T,H,D]");
  EXPECT_EQ(refusal_of("attention", {q, k, k, flat}), "[attention] mask is f32[2,3]; expected i32[2,7]");
}

TEST(CachedAttention, EqualsCausalAttentionOverTheFilledRows) {
  const Array q = random_array({1, 2, 1, 3}, 1), k = random_array({1, 5, 1, 3}, 2), v = random_array({1, 5, 1, 3}, 3);
  Array k_cache = random_array({1, 8, 1, 3}, 4), v_cache = random_array({1, 8, 1, 3}, 5);
  k_cache = run_op("cache_write", {k_cache, k, i64_number(0)})[0];
  v_cache = run_op("cache_write", {v_cache, v, i64_number(0)})[0];
  const Array expected = run_op("attention", {q, k, v}, {{"causal", true}})[0];
  expect_near(run_op("cached_attention", {q, k_cache, v_cache, i64_number(3)})[0], expected.data);
}

TEST(CacheWrite, ReplacesRowsFromThePositionOn) {
  const Array cache = f32_array({1, 4, 1, 1}, {1, 2, 3, 4});
  expect_near(run_op("cache_write", {cache, f32_array({1, 2, 1, 1}, {8, 9}), i64_number(1)})[0], {1, 8, 9, 4});
  expect_near(run_op("cache_write", {cache, f32_array({1, 2, 1, 1}, {8, 9}), i64_number(3)})[0], {1, 2, 3, 8});
}

}  // namespace
}  // namespace plimsoll::ops
