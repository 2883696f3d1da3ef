// Trains one weight for a few steps through the installed headers and libraries alone.
#include <cstdio>

#include "engine/session.h"

using namespace plimsoll;

namespace {

/// The mean square of x·w against y, for 8 rows of 4.
models::Model make_line(const ops::OpTable& ops) {
  models::Model model{.name = "line"};
  models::ModelBuilder b(model, ops);
  const auto x = b.input("x", {DType::kF32, {8, 4}, {}});
  const auto y = b.input("y", {DType::kF32, {8, 1}, {}});
  const auto w = b.weight("w", {4, 1}, models::normal(0.1));
  model.loss = b.add("mse", {b.add("matmul", {x, w}), y}, {}, {.name = "loss"});
  return model;
}

}  // namespace

int main() {
  auto environment = engine::Environment::make({.threads = 1}).value();
  engine::SessionSpec spec{.training = make_line(environment->ops()), .optimizer = {.name = "sgd", .lr = 0.1}};
  auto plan = engine::plan_session(std::move(spec), *environment, std::nullopt, 0).value();
  auto session = engine::Session::make(std::move(plan), *environment, 1).value();

  float x[32], y[8];
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i * 7 % 11) / 11 - 0.5f;
  for (int i = 0; i < 8; ++i) y[i] = 2 * x[4 * i] - x[4 * i + 3];

  engine::Runner& runner = session->train();
  float first = 0, last = 0;
  for (int64_t step = 1; step <= 50; ++step) {
    runner.set_scalar("lr", 0.5f);
    runner.set_scalar("step", step);
    runner.set_feed("x", x, sizeof x);
    runner.set_feed("y", y, sizeof y);
    if (!runner.run().is_finite) return 1;
    last = runner.scalar_output("loss");
    if (step == 1) first = last;
  }
  std::printf("loss %g, then %g\n", first, last);
  return last < first / 4 ? 0 : 1;
}
