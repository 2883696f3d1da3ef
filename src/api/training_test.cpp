#include "api/training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "api/value_or_throw.h"

namespace plimsoll::api {
namespace {

constexpr int64_t kRows = 4;
const std::vector<float> kX{1, 2, -1, 0.5f, 0, 3, 2, -2};
const std::vector<float> kY{1, 0, -1, 2};

/// mse of x·w against y. Shapes: x [rows,2], w [2,1], y [rows,1].
models::Model make_line(int64_t rows = kRows) {
  models::Model model{.name = "line"};
  models::ModelBuilder b(model, standard_ops());
  const auto x = b.input("x", {DType::kF32, {rows, 2}, {}});
  const auto y = b.input("y", {DType::kF32, {rows, 1}, {}});
  const auto w = b.weight("w", {2, 1}, models::normal(0.5));
  const auto prediction = b.add("matmul", {x, w});
  model.loss = b.add("mse", {prediction, y});
  model.graph.add_output("prediction", prediction);
  PLIMSOLL_CHECK(b.status().ok(), b.status().error().message);
  return model;
}

TrainingOptions sgd(double lr) {
  return {.threads = 1, .optimizer = {.name = "sgd", .lr = lr, .weight_decay = 0}, .keep_gradients = true};
}

Training start(const TrainingOptions& options) {
  Training training = Training::compile(make_line(kRows / options.microbatches), options).value();
  EXPECT_TRUE(training.set_input("x", kX).ok());
  EXPECT_TRUE(training.set_input("y", kY).ok());
  return training;
}

std::vector<float> copy(Result<std::span<const float>> values) { return {values->begin(), values->end()}; }

/// d mse / d w by hand, over all rows.
std::vector<float> gradient_by_hand(const std::vector<float>& w) {
  std::vector<float> out(2);
  for (size_t row = 0; row < kRows; ++row) {
    const float error = kX[2 * row] * w[0] + kX[2 * row + 1] * w[1] - kY[row];
    for (size_t i = 0; i < 2; ++i) out[i] += 2.0f / kRows * error * kX[2 * row + i];
  }
  return out;
}

TEST(Training, AStepFollowsTheGradient) {
  Training training = start(sgd(0.1));
  const std::vector<float> w = copy(training.parameter("w"));
  const std::vector<float> expected = gradient_by_hand(w);
  const StepMetrics metrics = training.step().value();
  const std::vector<float> gradient = copy(training.gradient("w"));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(gradient[i], expected[i], 1e-5f);
    EXPECT_NEAR((*training.parameter("w"))[i], w[i] - 0.1f * expected[i], 1e-6f);
  }
  EXPECT_EQ(metrics.step, 1);
  EXPECT_NEAR(metrics.grad_norm, std::hypot(expected[0], expected[1]), 1e-5);
  EXPECT_NEAR((*training.output("prediction"))[0], kX[0] * w[0] + kX[1] * w[1], 1e-6f);
}

TEST(Training, TheLossFalls) {
  Training training = start(sgd(0.05));
  const double first = training.step()->loss;
  training.set_learning_rate(0.1);
  double last = first;
  for (int i = 0; i < 100; ++i) last = training.step()->loss;
  EXPECT_LT(last, first);
  EXPECT_EQ(training.step_count(), 101);
}

TEST(Training, GradientsAreSumsOverMicrobatches) {
  TrainingOptions options = sgd(0);
  options.microbatches = 2;
  Training training = start(options);
  const std::vector<float> expected = gradient_by_hand(copy(training.parameter("w")));
  ASSERT_TRUE(training.step().ok());
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR((*training.gradient("w"))[i], 2 * expected[i], 1e-5f);
}

TEST(Training, KeepsItsStateWhenMoved) {
  Training first = start(sgd(0.1));
  ASSERT_TRUE(first.step().ok());
  Training second = start(sgd(0.3));
  second = std::move(first);
  EXPECT_EQ(second.step()->step, 2);
}

TEST(Training, NeedsExactlyTheRamThatItSays) {
  TrainingOptions options = sgd(0.1);
  const Bytes needed = Training::compile(make_line(), options)->memory_plan().ram;
  options.ram = needed;
  EXPECT_TRUE(Training::compile(make_line(), options).ok());
  options.ram = needed - Bytes{1};
  const auto refused = Training::compile(make_line(), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInfeasible);
  EXPECT_EQ(refused.error().infeasible->needed_bytes, needed.value);
  options.ram = needed;
  options.own_data = mebibytes(1);
  EXPECT_FALSE(Training::compile(make_line(), options).ok());
}

TEST(Training, AccountsForEveryByteOfItsArenaAndTheRestOfTheProcess) {
  const Training training = start(sgd(0.1));
  int64_t arena = 0, runtime = 0;
  for (const memory::LedgerRow& row : training.memory())
    (row.category == Category::kRuntime ? runtime : arena) += row.now.value;
  EXPECT_EQ(arena, training.memory_plan().arena.value);
  EXPECT_GT(runtime, 0);
}

TEST(Training, RefusesWrongInputsByName) {
  Training training = Training::compile(make_line(), sgd(0.1)).value();
  EXPECT_EQ(training.step().error().message,
            "a step needs values that were never set: x, y; call set_input or set_scalar");
  EXPECT_EQ(training.set_input("z", kX).error().message, "there is no input 'z'; the model has x, y");
  EXPECT_EQ(training.set_input("x1", kX).error().message,
            "there is no input 'x1'; the model has x, y; did you mean 'x'?");
  EXPECT_EQ(training.set_input("x", kY).error().message,
            "input 'x' is given 4 elements of f32; expected 8: f32[4,2] times 1 microbatches");
  EXPECT_FALSE(training.set_input("y", std::vector<int32_t>(4)).ok());
  EXPECT_FALSE(training.set_scalar("lr", 1).ok());
  EXPECT_FALSE(training.parameter("v").ok());
  EXPECT_FALSE(training.output("predictions").ok());
}

TEST(Training, RefusesOptionsThatMakeNoSense) {
  TrainingOptions options = sgd(0.1);
  options.microbatches = 0;
  EXPECT_EQ(Training::compile(make_line(), options).error().message, "microbatches is 0; expected 1 or more");
  options = sgd(0.1);
  options.seed = (uint64_t{1} << 53) + 1;
  EXPECT_EQ(Training::compile(make_line(), options).error().message,
            "seed is 9007199254740993; expected 0 to 9007199254740992");
  models::Model no_loss = make_line();
  no_loss.loss = {};
  EXPECT_FALSE(Training::compile(no_loss, sgd(0.1)).ok());
}

TEST(Training, TellsTheFirstMistakeOfAModelWhoseBuilderNobodyAsked) {
  models::Model model{.name = "bad"};
  models::ModelBuilder b(model, standard_ops());
  const auto x = b.input("x", {DType::kF32, {4, 2}, {}});
  const auto y = b.input("y", {DType::kF32, {4, 1}, {}});
  const auto w = b.weight("w", {3, 1}, models::normal(0.5));
  model.loss = b.add("mse", {b.add("matmul", {x, w}), y});
  const auto refused = Training::compile(std::move(model), sgd(0.1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.rfind("matmul: [matmul] ", 0), 0) << refused.error().message;
}

TEST(Training, RefusesAParameterThatNothingInitialises) {
  models::Model model = make_line();
  models::ModelBuilder b(model, standard_ops());
  b.parameter("table", {DType::kF32, {2}, {}}, false);
  const auto refused = Training::compile(model, sgd(0.1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "parameter 'table' has no initialiser; make it with weight, or name it in the model's parameters");
  model.parameters["table"] = {models::constant(1)};
  EXPECT_TRUE(Training::compile(std::move(model), sgd(0.1)).ok());
}

TEST(Training, TellsAMistakeThatWasMadeBehindTheLoss) {
  models::Model model = make_line();
  models::ModelBuilder b(model, standard_ops());
  model.graph.add_output("tanh", b.add("tanhh", {model.loss}));
  const auto refused = Training::compile(std::move(model), sgd(0.1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "there is no op 'tanhh'; did you mean 'tanh'?");
}

TEST(Training, SaysHowToKeepGradients) {
  TrainingOptions options = sgd(0.1);
  options.keep_gradients = false;
  EXPECT_EQ(start(options).gradient("w").error().message, "gradients are not kept; compile with keep_gradients = true");
}

TEST(Training, NotesWhatItsAuthorMayNotExpect) {
  EXPECT_TRUE(start(sgd(0.1)).notes().empty());
  models::Model model{.name = "scaled"};
  models::ModelBuilder b(model, standard_ops());
  const auto x = b.input("x", {DType::kF32, {4, 2}, {}});
  const auto targets = b.input("targets", {DType::kI32, {4}, {}});
  b.weight("idle", {3}, models::constant(0));
  const auto loss = b.add("linear_cross_entropy",
                          {x, b.weight("w", {3, 2}, models::normal(0.5)), targets, b.scalar("inv_valid", DType::kF32)},
                          {}, {.name = "head"});
  model.loss = b.add("multiply", {loss, b.constant("half", {DType::kF32, {}, {}}, {0.5})});
  ASSERT_TRUE(b.status().ok()) << b.status().error().message;
  const auto training = Training::compile(std::move(model), sgd(0.1));
  ASSERT_TRUE(training.ok()) << training.error().message;
  ASSERT_EQ(training->notes().size(), 2u);
  EXPECT_EQ(training->notes()[0], "no gradient reaches the trainable parameter 'idle'");
  EXPECT_NE(training->notes()[1].find("[linear_cross_entropy] 'head' runs twice"), std::string::npos);
}

TEST(Training, StopsBeforeANumberThatIsNotFiniteReachesAParameter) {
  Training training = start(sgd(0.1));
  const std::vector<float> w = copy(training.parameter("w"));
  std::vector<float> broken = kX;
  broken[3] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(training.set_input("x", broken).ok());
  const auto step = training.step();
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().message.rfind("step 1 stopped before any parameter changed", 0), 0) << step.error().message;
  EXPECT_EQ(copy(training.parameter("w")), w);
  EXPECT_EQ(training.step_count(), 0);
}

TEST(ValueOrThrow, TurnsErrorsIntoExceptions) {
  EXPECT_EQ(value_or_throw(Result<int>(3)), 3);
  EXPECT_NO_THROW(value_or_throw(Status()));
  try {
    value_or_throw(Status(io_error("no disk")));
    FAIL();
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "no disk");
    EXPECT_EQ(exception.error().code, ErrorCode::kIo);
  }
}

}  // namespace
}  // namespace plimsoll::api
