// SPDX-License-Identifier: Apache-2.0
// Tells two interleaved spirals apart with a small network, inside 200 MiB. Fails below 95 % of right answers.
#include <plimsoll/plimsoll.h>

#include <cmath>
#include <cstdio>
#include <random>

using namespace plimsoll;

constexpr int64_t kPoints = 512;  // a step

/// The network's loss on points [kPoints,2] and their spiral's number; it also shows the logits.
Model make_classifier() {
  Model model{.name = "spirals"};
  ModelBuilder b(model, standard_ops());
  const ValueId points = b.input("points", {DType::kF32, {kPoints, 2}, {}});
  const ValueId spiral = b.input("spiral", {DType::kI32, {kPoints}, {}});
  const ValueId share = b.constant("share", {DType::kF32, {}, {}}, {1.0 / kPoints});
  const nn::LinearOptions wide{.weight = models::normal(0.5)};
  const ValueId first = b.add("tanh", {nn::linear(b, "first", points, 64, wide)});
  const ValueId second = b.add("tanh", {nn::linear(b, "second", first, 64, {.weight = models::normal(0.125)})});
  const ValueId logits = nn::linear(b, "last", second, 2, {.weight = models::normal(0.125)});
  model.loss = b.add("cross_entropy", {logits, spiral, share});
  model.graph.add_output("logits", logits);
  return model;
}

/// Points that no step has seen before, on spirals of 1.25 turns with some noise.
void draw(std::mt19937& random, std::vector<float>& points, std::vector<int32_t>& spiral) {
  std::uniform_real_distribution<float> unit(0, 1);
  std::normal_distribution<float> noise(0, 0.03f);
  for (size_t i = 0; i < kPoints; ++i) {
    spiral[i] = static_cast<int32_t>(i % 2);
    const float way = 0.1f + 0.9f * std::sqrt(unit(random));
    const float angle = 7.85f * way + 3.14159265f * static_cast<float>(spiral[i]);
    points[2 * i] = 2 * way * std::cos(angle) + noise(random);
    points[2 * i + 1] = 2 * way * std::sin(angle) + noise(random);
  }
}

double accuracy(std::span<const float> logits, const std::vector<int32_t>& spiral) {
  int64_t right = 0;
  for (size_t i = 0; i < spiral.size(); ++i) right += (logits[2 * i + 1] > logits[2 * i]) == (spiral[i] == 1);
  return static_cast<double>(right) / static_cast<double>(spiral.size());
}

int main() try {
  Training training = value_or_throw(
      Training::compile(make_classifier(), {.ram = mebibytes(200), .optimizer = {.name = "adam", .lr = 0.01}}));
  const MemoryPlan& plan = training.memory_plan();
  std::printf("needs %s of 200 MiB; arena %s: state %s, step %s (no plan can have less than %s)\n",
              to_string(plan.ram).c_str(), to_string(plan.arena).c_str(), to_string(plan.state).c_str(),
              to_string(plan.step).c_str(), to_string(plan.step_lower_bound).c_str());

  std::mt19937 random(1);
  std::vector<float> points(2 * kPoints);
  std::vector<int32_t> spiral(kPoints);
  value_or_throw(training.set_input("points", points));
  value_or_throw(training.set_input("spiral", spiral));
  double right = 0;
  for (int64_t step = 1; step <= 300; ++step) {
    draw(random, points, spiral);
    training.set_learning_rate(0.01 * static_cast<double>(301 - step) / 300);
    const StepMetrics metrics = value_or_throw(training.step());
    right = accuracy(value_or_throw(training.output("logits")), spiral);
    if (step % 50 == 0 || step == 1)
      std::printf("step %3lld  loss %.4f  gradient norm %.3f  right %.1f %%\n", static_cast<long long>(step),
                  metrics.loss, metrics.grad_norm, 100 * right);
  }
  return right < 0.95;
} catch (const Exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  if (const auto& why = failure.error().infeasible)  // the tensors that take the most at the tightest step
    for (const auto& it : why->holders)
      std::fprintf(stderr, "  %s %s\n", to_string(Bytes{it.size_bytes}).c_str(), it.name.c_str());
  return 1;
}
