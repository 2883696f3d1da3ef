#include <cmath>

#include "ops/loss/logits_chunk.h"
#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

using testing::Contains;
using testing::Not;

TEST(Mse, FollowsThreeElementsByHand) {
  const Array prediction = f32_array({3}, {1, 2, 5}), target = f32_array({3}, {0, 4, 4});
  const auto rule = run_gradient("mse", {prediction, target}, {}, f32_number(3));
  expect_near(rule.dst, {2});
  expect_near(rule.d_srcs[0], {2, -4, 2});
  expect_near(rule.d_srcs[1], {-2, 4, -2});
}

TEST(CrossEntropy, FollowsTwoRowsByHand) {
  // Row 0: probabilities 1/4 and 3/4; row 1: 1/2 each.
  const std::vector<Array> srcs{f32_array({2, 2}, {0, std::log(3), 7, 7}), i32_array({2}, {1, 0}), f32_number(0.5)};
  const auto rule = run_gradient("cross_entropy", srcs, {}, f32_number(2));
  expect_near(rule.dst, {(std::log(4.0 / 3) + std::log(2.0)) / 2});
  expect_near(rule.d_srcs[0], {0.25, -0.25, -0.5, 0.5});
  expect_near(rule.d_srcs[2], {2 * (std::log(4.0 / 3) + std::log(2.0))});
}

TEST(CrossEntropy, LabelSmoothingSpreadsTheTarget) {
  // -(0.9 + 0.1 / 2) log(3/4) - 0.1 / 2 log(1/4)
  const std::vector<Array> srcs{f32_array({1, 2}, {0, std::log(3)}), i32_array({1}, {1}), f32_number(1)};
  const auto rule = run_gradient("cross_entropy", srcs, {{"label_smoothing", 0.1}}, f32_number(1));
  expect_near(rule.dst, {0.95 * std::log(4.0 / 3) + 0.05 * std::log(4.0)});
  expect_near(rule.d_srcs[0], {0.25 - 0.05, 0.75 - 0.95});
}

TEST(CrossEntropy, IgnoredRowsCountNothing) {
  const Array logits = random_array({3, 4}, 1);
  for (const double target : {-100.0, -1.0, 4.0, 1e9}) {
    const std::vector<Array> srcs{logits, i32_array({3}, {target, target, target}), f32_number(1)};
    const auto rule = run_gradient("cross_entropy", srcs, {}, f32_number(1));
    EXPECT_EQ(rule.dst[0], 0);
    for (const double d : rule.d_srcs[0].data) EXPECT_EQ(d, 0);
  }
}

/// Inputs of linear_cross_entropy: 7 rows of width 4, 5 classes, two rows that do not count.
std::vector<Array> linear_srcs(bool has_bias) {
  std::vector<Array> srcs{random_array({7, 4}, 1), random_array({5, 4}, 2), i32_array({7}, {0, 4, -100, 1, 5, 3, 3}),
                          f32_number(0.2)};
  if (has_bias) srcs.push_back(random_array({5}, 3));
  return srcs;
}

/// The same loss and gradients by matmul, cross_entropy and their gradient rules.
std::vector<Array> composed_gradients(const std::vector<Array>& srcs, const Attributes& attributes, double d_loss) {
  std::vector<Array> factors{srcs[0], srcs[1]};
  if (srcs.size() > 4) factors.push_back(srcs[4]);
  const Attributes transposed{{"transpose_b", true}};
  const Array logits = run_op("matmul", factors, transposed)[0];
  const auto loss = run_gradient("cross_entropy", {logits, srcs[2], srcs[3]}, attributes, f32_number(d_loss));
  const auto product = run_gradient("matmul", factors, transposed, loss.d_srcs[0]);
  std::vector<Array> out{loss.dst};
  out.insert(out.end(), product.d_srcs.begin(), product.d_srcs.end());
  return out;
}

void expect_composed(const std::vector<Array>& srcs, const Attributes& attributes, double d_loss, bool is_root) {
  const auto expected = composed_gradients(srcs, attributes, d_loss);
  const auto rule = run_gradient("linear_cross_entropy", srcs, attributes, f32_number(d_loss), is_root);
  expect_near(rule.dst, expected[0].data);
  expect_near(rule.d_srcs[0], expected[1].data);
  expect_near(rule.d_srcs[1], expected[2].data);
  if (srcs.size() > 4) expect_near(rule.d_srcs[4], expected[3].data);
}

TEST(LinearCrossEntropy, EqualsMatmulThenCrossEntropy) {
  for (const bool has_bias : {false, true})
    for (const double smoothing : {0.0, 0.1}) {
      expect_composed(linear_srcs(has_bias), {{"label_smoothing", smoothing}}, 1, true);
      expect_composed(linear_srcs(has_bias), {{"label_smoothing", smoothing}}, 3, false);
    }
}

TEST(LinearCrossEntropy, AsRootMakesGradientsInTheForwardPass) {
  const auto rule = run_gradient("linear_cross_entropy", linear_srcs(false), {}, f32_number(1), true);
  EXPECT_THAT(rule.ops, Contains("linear_cross_entropy_with_grad"));
  EXPECT_THAT(rule.ops, Not(Contains("linear_cross_entropy")));
}

TEST(LinearCrossEntropy, ElsewhereRunsThePassAgain) {
  const auto rule = run_gradient("linear_cross_entropy", linear_srcs(false), {}, f32_number(3), false);
  EXPECT_EQ(rule.ops[0], "linear_cross_entropy");
  EXPECT_THAT(rule.ops, Contains("linear_cross_entropy_with_grad"));
}

TEST(LinearCrossEntropy, RefusesNegativeChunks) {
  const auto srcs = descs_of(linear_srcs(false));
  EXPECT_EQ(refusal_of("linear_cross_entropy", srcs, {{"chunk_rows", int64_t{-1}}}),
            "[linear_cross_entropy] chunk_rows is -1; expected 0 (by shape) or more");
}

TEST(LogitsChunk, CutsRowsIntoEqualChunksOfWholeSteps) {
  EXPECT_EQ(logits_chunk_rows(400, 50257, 0), 208);    // 333 fit, 256 in whole blocks: two chunks
  EXPECT_EQ(logits_chunk_rows(8192, 50257, 0), 256);   // 32 chunks
  EXPECT_EQ(logits_chunk_rows(8192, 100000, 0), 160);  // 167 fit: 52 chunks of 158, rounded up
  EXPECT_EQ(logits_chunk_rows(16384, 2048, 0), 8192);  // exactly 64 MiB
  EXPECT_EQ(logits_chunk_rows(7, 50257, 0), 7);        // all rows
  EXPECT_EQ(logits_chunk_rows(100, 20000000, 0), 16);  // never fewer than 16
  EXPECT_EQ(logits_chunk_rows(100, 1000, 30), 30);     // as told
  EXPECT_EQ(logits_chunk_rows(0, 1000, 0), 1);
}

TEST(LogitsChunk, NeverExceedsItsBytesAboveTheLeastRows) {
  for (const int64_t rows : {1, 17, 1000, 4097})
    for (const int64_t classes : {1, 1000, 30522, 50257, 250000}) {
      const int64_t chunk = logits_chunk_rows(rows, classes, 0);
      EXPECT_TRUE(chunk == 16 || chunk * classes * 4 <= kLogitsChunkBytes)
          << rows << " rows, " << classes << " classes";
    }
}

}  // namespace
}  // namespace plimsoll::ops
