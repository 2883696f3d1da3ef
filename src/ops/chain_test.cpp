#include "ops/chain.h"

#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

constexpr const char* kText =
    "keep | gelu(_) {approximate=\"tanh\"} | subtract(s0, _) | dropout(_, s1, s2, s3) {p=0.5, path=\"a | b\"}";

TEST(Chain, ReadsBackFromItsText) {
  const Chain chain = try_parse_chain("op", kText).value();
  EXPECT_EQ(to_string(chain), kText);
  EXPECT_EQ(chain.src_count(), 4u);
  EXPECT_EQ(chain.kept_count(), 1u);
  EXPECT_TRUE(chain.has("dropout"));
  EXPECT_EQ(chain.steps[2].srcs, (std::vector<int>{0, kRunning}));
  EXPECT_TRUE(try_parse_chain("op", "").value().steps.empty());
}

TEST(Chain, TakesDefaultsOfItsOps) {
  EXPECT_EQ(to_string(try_parse_chain("op", "gelu(_)").value()), "gelu(_) {approximate=\"none\"}");
}

TEST(Chain, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"gelu(_) relu(_)", "[op] chain \"gelu(_) relu(_)\": expected '|', not \"relu(_)\""},
      {"add(_, x)", "[op] chain \"add(_, x)\": expected _, s0, s1, …, not \"x\""},
      {"add(_, _)", "[op] chain: step add has 2 inputs; expected 2, one of them _"},
      {"add(s0)", "[op] chain: step add has 1 inputs; expected 2, one of them _"},
      {"gelo(_)", "[op] chain: there is no step \"gelo\"; did you mean 'gelu'?"},
      {"softmax(_)", "[op] chain: there is no step \"softmax\""},
      {"gelu(_) {approximate=\"tan\"}",
       "[op] chain: [gelu] attribute approximate is \"tan\"; expected one of none, tanh; did you mean 'tanh'?"}};
  for (const auto& [text, message] : cases) {
    const auto chain = try_parse_chain("op", text);
    ASSERT_FALSE(chain.ok()) << text;
    EXPECT_EQ(chain.error().message, message);
  }
}

TEST(Chain, SourcesRepeatAlongLeadingAxesOnly) {
  const Shape value{4, 3, 5};
  for (const Shape& src : {Shape{}, Shape{1}, Shape{5}, Shape{1, 5}, Shape{3, 5}, Shape{1, 3, 5}, value, Shape{1, 1}})
    EXPECT_TRUE(repeats_along_leading_axes(src, value)) << to_string(src);
  for (const Shape& src : {Shape{3}, Shape{3, 1}, Shape{4, 1, 5}, Shape{4, 1, 1}, Shape{1, 4, 3, 5}})
    EXPECT_FALSE(repeats_along_leading_axes(src, value)) << to_string(src);
}

TEST(Chain, RefusesSourcesThatDoNotFit) {
  const auto refusal = [](const char* chain, const Shape& src) {
    return refusal_of("elementwise_chain", {{DType::kF32, {4, 3}, {}}, {DType::kF32, src, {}}}, {{"chain", chain}});
  };
  EXPECT_EQ(refusal("add(_, s0)", {3}), "");
  EXPECT_EQ(refusal("add(_, s0)", {4, 1}),
            "[elementwise_chain] chain: s0 is f32[4,1]; expected one element or the last axes of [4,3]");
  EXPECT_EQ(refusal("relu(_)", {3}), "[elementwise_chain] chain reads 0 further inputs; given 1");
  EXPECT_EQ(refusal("gelu_grad(s0, _)", {3}),
            "[elementwise_chain] chain: [gelu_grad] x is f32[3] and d_y is f32[4,3]; expected two inputs of one type "
            "and shape");
}

TEST(Chain, CountsTheArithmeticOfItsSteps) {
  const TensorDesc value{DType::kF32, {10}, {}};
  const std::vector<TensorDesc> srcs{value};
  const Chain chain = try_parse_chain("op", "keep | gelu(_) | add(_, s0)").value();
  EXPECT_EQ(chain_flops(chain, value, srcs), 10 * (8 + 1));
}

TEST(ElementwiseChain, AppliesStepsInOrderAndKeepsWhatIsMarked) {
  const auto dsts = run_op("elementwise_chain", {f32_array({2}, {1, -2}), f32_array({}, {10})},
                           {{"chain", "neg(_) | keep | subtract(s0, _)"}});
  ASSERT_EQ(dsts.size(), 2u);
  expect_near(dsts[0], {11, 8});
  expect_near(dsts[1], {-1, 2});
}

}  // namespace
}  // namespace plimsoll::ops
