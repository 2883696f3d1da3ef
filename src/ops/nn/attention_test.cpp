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

const Attributes kDropping{{"causal", true}, {"dropout", 0.5}, {"path", "h.0"}};

/// `srcs` with seed 42, step 7 and the microbatch.
std::vector<Array> with_scalars(std::vector<Array> srcs, double microbatch) {
  for (const double scalar : {42.0, 7.0, microbatch}) srcs.push_back(i64_number(scalar));
  return srcs;
}

/// q, k, and values that are the unit vectors by key, so that o[b,t,h,:] are the weights themselves. [batch,5,2,5]
/// each.
std::vector<Array> weights_as_output(int64_t batch) {
  const Shape shape{batch, 5, 2, 5};
  Array v({DType::kF32, shape, {}});
  for (int64_t i = 0; i < v.numel(); ++i) v[i] = i / 10 % 5 == i % 5;
  return {random_array(shape, 1), random_array(shape, 2), v};
}

TEST(Attention, DropsTheWeightsThatDropoutDrops) {
  const auto plain = run_op("attention", weights_as_output(2), {{"causal", true}});
  const auto dropped = run_op("attention", with_scalars(weights_as_output(2), 3), kDropping);
  const Attributes heads_first{{"permutation", std::vector<int64_t>{0, 2, 1, 3}}};
  const Array weights = run_op("transpose", {plain[0]}, heads_first)[0];
  const Array expected = run_op("dropout", with_scalars({weights}, 3), {{"p", 0.5}, {"path", "h.0"}})[0];
  expect_near(run_op("transpose", {dropped[0]}, heads_first)[0], expected.data);
  EXPECT_NE(dropped[0].data, plain[0].data);
  EXPECT_EQ(dropped[1].data, plain[1].data) << "lse is that of the whole softmax";
}

TEST(Attention, DropsAlikeInAnySplitIntoMicrobatches) {
  const std::vector<Array> srcs = weights_as_output(2);
  const Array whole = run_op("attention", with_scalars(srcs, 0), kDropping)[0];
  for (const int64_t microbatch : {0, 1}) {
    std::vector<Array> part;
    for (const Array& src : srcs) {
      const auto first = src.data.begin() + microbatch * 50;
      part.push_back(f32_array({1, 5, 2, 5}, {first, first + 50}));
    }
    const Array o = run_op("attention", with_scalars(part, static_cast<double>(microbatch)), kDropping)[0];
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(o[i], whole[microbatch * 50 + i]) << microbatch << ", element " << i;
  }
}

TEST(Attention, RefusesDropoutWithoutItsScalars) {
  const TensorDesc q{DType::kF32, {2, 3, 4, 5}, {}}, mask{DType::kI32, {2, 3}, {}}, i{DType::kI64, {}, {}};
  EXPECT_EQ(refusal_of("attention", {q, q, q}, {{"dropout", 1.0}}),
            "[attention] dropout is 1.0; expected 0 <= dropout < 1");
  const std::string rule =
      "expected seed, step and microbatch as the last ones where dropout is above 0, and only there";
  EXPECT_EQ(refusal_of("attention", {q, q, q, mask}, {{"dropout", 0.5}}),
            "[attention] dropout 0.5 with 4 inputs; " + rule);
  EXPECT_EQ(refusal_of("attention", {q, q, q, i, i, i}), "[attention] dropout 0.0 with 6 inputs; " + rule);
  EXPECT_EQ(refusal_of("attention", {q, q, q, mask, i, mask, i}, {{"dropout", 0.5}}),
            "[attention] step is i32[2,3]; expected i64[]");
  EXPECT_EQ(refusal_of("attention", {q, q, q, i, i, i}, {{"dropout", 0.5}}), "");
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
