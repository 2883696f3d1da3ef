// Three steps of every optimizer on one parameter, against numbers worked out apart from this code.
#include "ops/op_testing.h"

namespace plimsoll::ops {
namespace {

using testing::HasSubstr;

const std::vector<double> kGrads{0.5, -0.25, 1.0};

/// The parameter after each step, from 1.0, with lr 0.1. `state` are the buffers, all starting at 0.
std::vector<double> run_steps(const std::string& op, size_t buffers, const Attributes& attributes,
                              double grad_scale = 1) {
  const bool is_sgd = op == "sgd";
  std::vector<Array> state(buffers, f32_array({1}, {0}));
  Array param = f32_array({1}, {1});
  std::vector<double> out;
  for (size_t i = 0; i < kGrads.size(); ++i) {
    std::vector<Array> srcs{param, f32_array({1}, {kGrads[i] / grad_scale})};
    if (!is_sgd) srcs.insert(srcs.end(), state.begin(), state.begin() + 2);
    srcs.push_back(f32_number(0.1));
    if (!is_sgd) srcs.push_back(i64_number(static_cast<double>(i + 1)));
    srcs.push_back(f32_number(grad_scale));
    srcs.insert(srcs.end(), state.begin() + (is_sgd ? 0 : 2), state.end());
    const std::vector<Array> dsts = run_op(op, srcs, attributes);
    param = dsts[0];
    state.assign(dsts.begin() + 1, dsts.end());
    out.push_back(param[0]);
  }
  return out;
}

void expect_steps(const std::vector<double>& actual, const std::vector<double>& expected) {
  expect_near(f32_array({std::ssize(actual)}, actual), expected);
}

TEST(AdamW, FollowsThreeStepsByHand) {
  expect_steps(run_steps("adamw", 2, {{"weight_decay", 0.01}}), {0.899000002, 0.8714672987058463, 0.804784672376384});
}

TEST(AdamW, WithMaximumFollowsThreeStepsByHand) {
  // The second moment falls in step 2, and the maximum holds.
  expect_steps(run_steps("adamw", 3, {{"weight_decay", 0.01}, {"beta2", 0.5}}),
               {0.899000002, 0.8723169000739665, 0.8163672755458676});
}

TEST(Adam, PutsDecayIntoTheGradient) {
  expect_steps(run_steps("adam", 2, {{"weight_decay", 0.01}}),
               {0.9000000019607843, 0.8712293476231743, 0.8046143342173858});
}

TEST(Adam, ScalesTheGradientFirst) {
  expect_steps(run_steps("adam", 2, {{"weight_decay", 0.01}}, 0.25), run_steps("adam", 2, {{"weight_decay", 0.01}}));
}

TEST(Adam, RefusesBetaOfOne) {
  const TensorDesc x{DType::kF32, {3}, {}}, f{DType::kF32, {}, {}}, i{DType::kI64, {}, {}};
  EXPECT_EQ(refusal_of("adam", {x, x, x, x, f, i, f}, {{"beta2", 1.0}}),
            "[adam] beta2 is 1.0; expected 0 <= beta2 < 1");
}

TEST(AdamW, NamesTheInputThatDoesNotFit) {
  const TensorDesc x{DType::kF32, {3}, {}}, y{DType::kF32, {4}, {}}, f{DType::kF32, {}, {}}, i{DType::kI64, {}, {}};
  EXPECT_EQ(refusal_of("adamw", {x, x, y, x, f, i, f}), "[adamw] m is f32[4]; expected f32[3]");
  EXPECT_EQ(refusal_of("adamw", {x, x, x, x, f, f, f}), "[adamw] step is f32[]; expected i64[]");
}

TEST(AdamW, UpdatesParameterAndMomentsInPlace) {
  const TensorDesc x{DType::kF32, {3}, {}}, f{DType::kF32, {}, {}}, i{DType::kI64, {}, {}};
  const std::vector<TensorDesc> srcs{x, x, x, x, f, i, f, x}, dsts(4, x);
  const Attributes attributes;
  const auto aliases = test_ops().at("adamw").aliases({srcs, dsts, attributes});
  ASSERT_EQ(aliases.size(), 4u);
  EXPECT_EQ(aliases[3], (Alias{.dst = 3, .src = 7, .kind = Alias::Kind::kUpdate}));
}

TEST(Sgd, WithMomentumFollowsThreeStepsByHand) {
  expect_steps(run_steps("sgd", 1, {{"momentum", 0.9}, {"weight_decay", 0.1}}), {0.94, 0.9016, 0.758024});
}

TEST(Sgd, NesterovFollowsThreeStepsByHand) {
  expect_steps(run_steps("sgd", 1, {{"momentum", 0.9}, {"nesterov", true}, {"weight_decay", 0.1}}),
               {0.886, 0.868066, 0.630906146});
}

TEST(Sgd, WithoutMomentumSubtractsTheGradient) { expect_steps(run_steps("sgd", 0, {}), {0.95, 0.975, 0.875}); }

TEST(Sgd, RefusesABufferThatDoesNotFitTheMomentum) {
  const TensorDesc x{DType::kF32, {3}, {}}, f{DType::kF32, {}, {}};
  EXPECT_THAT(refusal_of("sgd", {x, x, f, f}, {{"momentum", 0.9}}), HasSubstr("needs a momentum buffer"));
  EXPECT_THAT(refusal_of("sgd", {x, x, f, f, x}), HasSubstr("needs no momentum buffer"));
  EXPECT_THAT(refusal_of("sgd", {x, x, f, f}, {{"nesterov", true}}), HasSubstr("nesterov needs"));
}

}  // namespace
}  // namespace plimsoll::ops
