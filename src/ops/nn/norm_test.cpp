// Hand-computed values of layer_norm, the softmaxes and embedding.
#include <cmath>

#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

TEST(LayerNorm, FollowsARowByHand) {
  // Mean 2.5, variance 1.25; eps makes the divisor 1.5.
  const auto dsts = run_op(
      "layer_norm", {f32_array({1, 4}, {1, 2, 3, 4}), f32_array({4}, {1, 1, 2, 2}), f32_array({4}, {0, 0, 0, 1})},
      {{"eps", 1.0}});
  expect_near(dsts[0], {-1, -1.0 / 3, 2.0 / 3, 3});
  expect_near(dsts[1], {2.5});
  expect_near(dsts[2], {1 / 1.5});
}

TEST(LayerNorm, GradientOfBiasAndWeightSumsOverRows) {
  const auto rule =
      run_gradient("layer_norm", {f32_array({2, 2}, {-1, 1, 3, 1}), f32_array({2}, {1, 1}), f32_array({2}, {0, 0})},
                   {{"eps", 0.0}}, f32_array({2, 2}, {1, 2, 3, 4}));
  expect_near(rule.d_srcs[1], {-1 + 3, 2 - 4});
  expect_near(rule.d_srcs[2], {4, 6});
  // With two elements and no eps the outputs are always ±1: x has no influence.
  expect_near(rule.d_srcs[0], {0, 0, 0, 0});
}

TEST(LayerNorm, NamesTheInputThatDoesNotFit) {
  const TensorDesc x{DType::kF32, {2, 3}, {}}, row{DType::kF32, {3}, {}}, wrong{DType::kF32, {2}, {}};
  EXPECT_EQ(refusal_of("layer_norm", {x, row, wrong}), "[layer_norm] bias is f32[2]; expected f32[3]");
  EXPECT_EQ(refusal_of("layer_norm", {{DType::kF32, {2, 0}, {}}, row, row}),
            "[layer_norm] x is f32[2,0]; expected a last axis of 1 or more");
}

TEST(Softmax, FollowsALineByHand) {
  const Array x = f32_array({2, 2}, {0, std::log(3), std::log(4), std::log(9)});
  expect_near(run_op("softmax", {x})[0], {0.25, 0.75, 4.0 / 13, 9.0 / 13});
  expect_near(run_op("softmax", {x}, {{"axis", int64_t{0}}})[0], {0.2, 0.25, 0.8, 0.75});
}

TEST(Softmax, OfLargeNumbersDoesNotOverflow) {
  expect_near(run_op("softmax", {f32_array({2}, {1e30, 1e30})})[0], {0.5, 0.5});
  expect_near(run_op("log_softmax", {f32_array({2}, {-1e30, 0})})[0], {-1e30, 0});
}

TEST(Softmax, LogIsItsLogarithm) {
  const Array x = random_array({3, 5, 2}, 1);
  const Array y = run_op("softmax", {x}, {{"axis", int64_t{1}}})[0];
  const Array log_y = run_op("log_softmax", {x}, {{"axis", int64_t{1}}})[0];
  for (int64_t i = 0; i < y.numel(); ++i) EXPECT_NEAR(std::log(y[i]), log_y[i], 1e-12);
}

TEST(Softmax, RefusesAnAxisThatIsNotThere) {
  const TensorDesc x{DType::kF32, {8, 128}, {}};
  EXPECT_EQ(refusal_of("softmax", {x}, {{"axis", int64_t{3}}}),
            "[softmax] axis 3 is out of range for x f32[8,128]; expected -2..1");
}

TEST(Embedding, RepeatedIdsAddUpInTheGradient) {
  const Array table = f32_array({3, 2}, {1, 2, 3, 4, 5, 6}), ids = i32_array({3}, {2, 0, 2});
  const auto rule = run_gradient("embedding", {table, ids}, {}, f32_array({3, 2}, {1, 10, 2, 20, 4, 40}));
  expect_near(rule.dst, {5, 6, 1, 2, 5, 6});
  expect_near(rule.d_srcs[0], {2, 20, 0, 0, 5, 50});
}

TEST(Embedding, AnIdThatIsNoRowGivesZeros) {
  const auto rule = run_gradient("embedding", {f32_array({2, 1}, {1, 2}), i32_array({3}, {-1, 1, 2})}, {},
                                 f32_array({3, 1}, {5, 6, 7}));
  expect_near(rule.dst, {0, 2, 0});
  expect_near(rule.d_srcs[0], {0, 6});
}

}  // namespace
}  // namespace plimsoll::ops
