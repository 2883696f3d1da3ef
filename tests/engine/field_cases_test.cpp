// Faults that were reported of other projects, as small inputs that must not fail here; the names are those of the list
// of cases.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/diagnose.h"
#include "engine/session.h"
#include "engine/small_step.h"

namespace plimsoll::engine {
namespace {

/// Copies of microbatch 0's input in all others.
template <class T>
void repeat_first(std::span<T> all, size_t microbatches) {
  const size_t size = all.size() / microbatches;
  for (size_t i = size; i < all.size(); ++i) all[i] = all[i % size];
}

/// Marks all but the first `valid` targets as ignored.
void keep_first(std::span<int32_t> targets, size_t valid) {
  for (size_t i = valid; i < targets.size(); ++i) targets[i] = -100;
}

SmallStepOptions plain_sgd(int64_t microbatches = 1) {
  SmallStepOptions options{.optimizer = {.name = "sgd", .lr = 0.01, .weight_decay = 0}, .gives_gradients = true};
  options.microbatches = microbatches;
  return options;
}

SessionSpec mlp_spec(const Environment& environment, optim::OptimizerConfig optimizer) {
  // 4 M parameters.
  return {.training = make_mlp(environment.ops(), 8, 2000), .optimizer = std::move(optimizer)};
}

TEST(FieldCases, G2WhatTheOptimizerKeepsIsCountedBeforeTheFirstStep) {
  const auto environment = make_environment(2);
  const optim::OptimizerConfig sgd{.name = "sgd"};
  const int64_t need = plan_session(mlp_spec(*environment, sgd), *environment, {}, 0).value().need.total_bytes();
  const Bytes ram{need + (1 << 20)};
  auto plan = plan_session(mlp_spec(*environment, sgd), *environment, ram, 0);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(Session::make(*std::move(plan), *environment, 1).ok());

  int64_t least = need;
  for (const bool amsgrad : {false, true}) {
    const optim::OptimizerConfig adam{.name = "adamw", .amsgrad = amsgrad};
    const auto refused = plan_session(mlp_spec(*environment, adam), *environment, ram, 0);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInfeasible);
    const Infeasible& why = *refused.error().infeasible;
    EXPECT_EQ(why.budget_bytes, ram.value);
    EXPECT_GT(why.needed_bytes, least + (12 << 20)) << "the moments of 4 M parameters";
    EXPECT_FALSE(why.holders.empty());
    least = why.needed_bytes;
  }
}

TEST(FieldCases, G17aAWeightThatIsNotANumberStopsTheStepBeforeAnyUpdate) {
  const auto environment = make_environment(2);
  SessionSpec spec{.training = make_tiny_gpt2(environment->ops(), 2, 16)};
  const auto session =
      Session::make(plan_session(std::move(spec), *environment, {}, 0).value(), *environment, 3).value();
  const std::vector<int32_t> tokens(32, 5);
  Runner& runner = session->train();
  runner.set_feed("tokens", tokens.data());
  runner.set_feed("targets", tokens.data());
  runner.set_scalar("inv_valid_tokens", 1.0f / 32);
  runner.set_scalar("lr", 0.1f);
  runner.set_scalar("step", int64_t{1});
  ASSERT_TRUE(runner.run().is_finite);

  const TensorView weight = session->find_state("h.1.mlp.c_fc.weight").value();
  reinterpret_cast<float*>(weight.data)[77] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::byte> before(session->arena().data(),
                                      session->arena().data() + session->plan().train.plan.state_bytes);
  const runtime::Outcome outcome = runner.run();
  ASSERT_FALSE(outcome.is_finite);
  EXPECT_EQ(std::memcmp(before.data(), session->arena().data(), before.size()), 0) << "weights and moments untouched";
  EXPECT_EQ(find_first_non_finite(*session, outcome.failed_check), "parameter 'h.1.mlp.c_fc.weight'");
  EXPECT_EQ(std::memcmp(before.data(), session->arena().data(), before.size()), 0);
}

TEST(FieldCases, G17aNamesTheOpThatMadeTheFirstBadNumber) {
  const auto environment = make_environment(2);
  SessionSpec spec{.training = make_mlp(environment->ops(), 4)};
  const auto session =
      Session::make(plan_session(std::move(spec), *environment, {}, 0).value(), *environment, 3).value();
  std::vector<float> x(64, 0.5f);
  x[20] = std::numeric_limits<float>::infinity();
  const std::vector<int32_t> targets(4, 1);
  session->train().set_feed("x", x.data());
  session->train().set_feed("targets", targets.data());
  session->train().set_scalar("inv_valid_tokens", 0.25f);
  session->train().set_scalar("lr", 0.1f);
  session->train().set_scalar("step", int64_t{1});
  const runtime::Outcome outcome = session->train().run();
  ASSERT_FALSE(outcome.is_finite);
  EXPECT_EQ(find_first_non_finite(*session, outcome.failed_check), "output 0 of matmul_chain 'relu'");
}

// The loss and its gradients are sums over tokens divided by the valid tokens of the whole update; what is dropped does
// not depend on the cut either.
TEST(FieldCases, G23MicrobatchesOfUnequalTokensEqualOneBatch) {
  constexpr size_t kSeq = 236;
  constexpr int64_t kBatch = 4;  // rows of a microbatch: 944 positions
  const std::vector<size_t> valid{3, 50, 7, 940};
  const auto environment = make_environment(2);
  SmallStep parts(*environment, make_tiny_gpt2(environment->ops(), kBatch, kSeq, 0.1), plain_sgd(4));
  SmallStep whole(*environment, make_tiny_gpt2(environment->ops(), 4 * kBatch, kSeq, 0.1), plain_sgd(1));
  for (SmallStep* step : {&parts, &whole}) {
    const std::span<int32_t> targets = step->input<int32_t>("targets");
    for (size_t i = 0; i < valid.size(); ++i) keep_first(targets.subspan(i * kBatch * kSeq, kBatch * kSeq), valid[i]);
    step->runner().set_scalar("inv_valid_tokens", 1.0f / 1000);
    ASSERT_TRUE(step->run(1).is_finite);
  }
  EXPECT_NEAR(parts.loss(), whole.loss(), 1e-6f * whole.loss());
  EXPECT_LE(largest_difference(parts.outputs(), whole.outputs()), 1e-6);
  EXPECT_LE(largest_difference(parts.state(), whole.state()), 1e-6);
}

TEST(FieldCases, G25ABatchWithAllTargetsIgnoredAddsNothing) {
  const auto environment = make_environment(2);
  SmallStep step(*environment, make_tiny_gpt2(environment->ops(), 2, 32), plain_sgd());
  ASSERT_TRUE(step.run(1).is_finite);
  const std::vector<int32_t> targets(step.input<int32_t>("targets").begin(), step.input<int32_t>("targets").end());
  const Tensors before = step.state();
  keep_first(step.input<int32_t>("targets"), 0);
  step.runner().set_scalar("inv_valid_tokens", 0.0f);
  ASSERT_TRUE(step.run(2).is_finite);
  EXPECT_EQ(step.loss(), 0.0f);
  for (const auto& [name, values] : step.outputs())
    for (float value : values) ASSERT_EQ(value, 0.0f) << name;
  expect_equal_bits(step.state(), before, "weights");

  // One of four microbatches may be empty.
  SmallStep parts(*environment, make_tiny_gpt2(environment->ops(), 2, 32), plain_sgd(4));
  keep_first(parts.input<int32_t>("targets").subspan(2 * 64, 64), 0);
  parts.runner().set_scalar("inv_valid_tokens", 1.0f / 192);
  ASSERT_TRUE(parts.run(1).is_finite);
  EXPECT_GT(parts.loss(), 0.0f);
  for (const auto& [name, values] : parts.state())
    for (float value : values) ASSERT_TRUE(std::isfinite(value)) << name;
}

std::vector<float> losses_of_repeated(int threads, int64_t microbatches) {
  const auto environment = make_environment(threads);
  SmallStep step(*environment, make_tiny_gpt2(environment->ops(), 2, 32), plain_sgd(microbatches));
  repeat_first(step.input<int32_t>("tokens"), static_cast<size_t>(microbatches));
  repeat_first(step.input<int32_t>("targets"), static_cast<size_t>(microbatches));
  step.runner().set_scalar("inv_valid_tokens", 1.0f / static_cast<float>(64 * microbatches));
  std::vector<float> losses;
  for (int64_t i = 1; i <= 10; ++i) {
    EXPECT_TRUE(step.run(i).is_finite);
    losses.push_back(step.loss());
  }
  return losses;
}

TEST(FieldCases, G26TheSameMicrobatchEightTimesEqualsOnce) {
  const std::vector<float> once = losses_of_repeated(1, 1);
  EXPECT_LT(once.back(), once.front());
  for (const int threads : {1, 4}) {
    const std::vector<float> eight = losses_of_repeated(threads, 8);
    for (size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(eight[i], once[i], 1e-6f * once[i]) << i;
    EXPECT_EQ(losses_of_repeated(threads, 8), eight) << "repeatable";
  }
}

}  // namespace
}  // namespace plimsoll::engine
