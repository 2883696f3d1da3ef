// Trains one weight for a few steps through the installed headers and libraries alone.
#include <plimsoll/plimsoll.h>

#include <cstdio>

using namespace plimsoll;

namespace {

/// The mean square of x·w against y, for 8 rows of 4.
Model make_line() {
  Model model{.name = "line"};
  ModelBuilder b(model, standard_ops());
  const ValueId x = b.input("x", {DType::kF32, {8, 4}, {}});
  const ValueId y = b.input("y", {DType::kF32, {8, 1}, {}});
  const ValueId w = b.weight("w", {4, 1}, models::normal(0.1));
  model.loss = b.add("mse", {b.add("matmul", {x, w}), y}, {}, {.name = "loss"});
  return model;
}

}  // namespace

int main() {
  Training training = value_or_throw(
      Training::compile(make_line(), {.threads = 1, .optimizer = {.name = "sgd", .lr = 0.5}, .seed = 1}));
  float x[32], y[8];
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i * 7 % 11) / 11 - 0.5f;
  for (int i = 0; i < 8; ++i) y[i] = 2 * x[4 * i] - x[4 * i + 3];
  value_or_throw(training.set_input("x", x));
  value_or_throw(training.set_input("y", y));

  const double first = value_or_throw(training.step()).loss;
  double last = first;
  for (int i = 1; i < 50; ++i) last = value_or_throw(training.step()).loss;
  std::printf("loss %g, then %g\n", first, last);
  return last < first / 4 ? 0 : 1;
}
