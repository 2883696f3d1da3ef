#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/philox.h"
#include "engine/runner.h"
#include "engine/training_graph.h"
#include "memory/arena.h"
#include "models/gpt2.h"

namespace plimsoll::engine {
namespace {

/// Two layers on vectors of 8, written op by op.
models::Model make_mlp(const ops::OpTable& ops, int64_t batch) {
  models::Model model{.name = "mlp"};
  models::ModelBuilder b(model, ops);
  const auto x = b.input("x", {DType::kF32, {batch, 8}, {}});
  const auto y = b.input("y", {DType::kF32, {batch, 2}, {}});
  const auto w1 = b.weight("w1", {8, 16}, models::normal(0.3));
  const auto b1 = b.weight("b1", {16}, models::constant(0), false);
  const auto w2 = b.weight("w2", {16, 2}, models::normal(0.3));
  const auto h = b.add("relu", {b.add("matmul", {x, w1, b1})});
  model.loss = b.add("mse", {b.add("matmul", {h, w2}), y}, {}, {.name = "loss"});
  PLIMSOLL_CHECK(b.status().ok(), b.status().error().message);
  return model;
}

struct Run {
  std::unique_ptr<Environment> environment;
  CompiledProgram compiled;
  std::unique_ptr<memory::Arena> arena;
  std::unique_ptr<Runner> runner;
};

void initialize_parameters(const models::Model& model, const CompiledProgram& compiled, memory::Arena& arena) {
  for (const auto& [name, offset] : compiled.state_offsets()) {
    const auto it = model.parameters.find(name);
    if (it == model.parameters.end()) continue;
    const int64_t numel = compiled.lowered.state.at(name).desc.numel();
    models::initialize({reinterpret_cast<float*>(arena.at(offset)), static_cast<size_t>(numel)}, 0,
                       it->second.initializer, name, 7);
  }
}

struct Setting {
  int64_t microbatches = 1;
  std::string optimizer = "adamw";
  double lr = 0.01;
  bool releases_early = true;
};

std::unique_ptr<Run> start(int64_t batch, const Setting& setting) {
  auto run = std::make_unique<Run>();
  run->environment = Environment::make({.threads = 2}).value();
  const models::Model model = make_mlp(run->environment->ops(), batch / setting.microbatches);
  const auto training = make_training_graph(model, run->environment->ops(),
                                            {.name = setting.optimizer, .lr = setting.lr}, {.checks_gradients = false})
                            .value();
  const LowerOptions lowering{.microbatches = setting.microbatches, .releases_early = setting.releases_early};
  run->compiled = compile(training.graph, *run->environment, lowering, {}).value();
  EXPECT_EQ(run->compiled.plan.step_bytes, run->compiled.plan.step_lower_bound);
  run->arena = memory::try_make_host_arena(Bytes{run->compiled.plan.arena_bytes}, run->environment->pool()).value();
  initialize_parameters(model, run->compiled, *run->arena);
  run->runner = std::make_unique<Runner>(run->compiled, *run->environment, run->arena->data());
  return run;
}

std::vector<float> random_floats(size_t n, uint64_t seed) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = to_unit_float(Philox(seed)(i, 0)[0]) - 0.5f;
  return out;
}

/// The losses of a few steps on one batch of 24 rows whose targets are a fixed function of x.
std::vector<float> train(const Setting& setting, int steps) {
  const auto run = start(24, setting);
  const std::vector<float> x = random_floats(24 * 8, 1);
  std::vector<float> y(24 * 2);
  for (size_t i = 0; i < 24; ++i) {
    y[2 * i] = std::sin(3 * x[8 * i]);
    y[2 * i + 1] = x[8 * i + 1] * x[8 * i + 2] * 4;
  }
  const int64_t rows = 24 / setting.microbatches;
  std::vector<float> losses;
  for (int step = 1; step <= steps; ++step) {
    run->runner->set_scalar("lr", static_cast<float>(setting.lr));
    run->runner->set_scalar("step", int64_t{step});
    run->runner->set_feed("x", x.data(), rows * 8 * 4);
    run->runner->set_feed("y", y.data(), rows * 2 * 4);
    EXPECT_TRUE(run->runner->run().is_finite);
    losses.push_back(run->runner->scalar_output("loss"));
  }
  return losses;
}

TEST(Training, AnMlpLearns) {
  for (const char* optimizer : {"sgd", "adamw"}) {
    const std::vector<float> losses =
        train({.optimizer = optimizer, .lr = optimizer == std::string("sgd") ? 0.2 : 0.01}, 300);
    EXPECT_LT(losses.back(), losses.front() / 10) << optimizer;
  }
}

// Cases G23 and G26: the gradients of an update do not depend on how it is cut.
TEST(Training, MicrobatchesEqualTheWholeBatch) {
  const std::vector<float> whole = train({}, 10);
  for (const int64_t microbatches : {2, 8}) {
    const std::vector<float> parts = train({.microbatches = microbatches}, 10);
    // mse averages over the microbatch; the sum of k such means is k times the mean of all.
    for (size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(parts[i] / static_cast<float>(microbatches), whole[i], 1e-4f * whole[i]) << microbatches << " " << i;
  }
}

TEST(Training, TheSameInputGivesTheSameBits) { EXPECT_EQ(train({}, 20), train({}, 20)); }

/// Bytes of gradients that are alive together at the most.
int64_t gradient_bytes(const program::Program& program) {
  int64_t most = 0;
  for (const auto& here : program.residences) {
    int64_t alive = 0;
    for (const auto& r : program.residences) {
      const bool is_gradient = program.buffers[static_cast<size_t>(r.buffer)].category == Category::kGradients;
      if (is_gradient && r.first <= here.first && here.first < r.last) alive += r.size_bytes();
    }
    most = std::max(most, alive);
  }
  return most;
}

TEST(Training, TheOptimizerFollowsEachGradientAndChangesNoBit) {
  for (const char* optimizer : {"sgd", "adamw"})
    EXPECT_EQ(train({.optimizer = optimizer}, 20), train({.optimizer = optimizer, .releases_early = false}, 20));
  const auto together = start(24, {.releases_early = false}), following = start(24, {});
  EXPECT_EQ(together->compiled.program().compile_hash, following->compiled.program().compile_hash);
  constexpr int64_t kW1 = 8 * 16 * 4, kB1 = 16 * 4, kW2 = 16 * 2 * 4;
  EXPECT_EQ(gradient_bytes(together->compiled.program()), kW1 + kB1 + kW2);
  // One kernel makes those of a weight and of its bias.
  EXPECT_EQ(gradient_bytes(following->compiled.program()), kW1 + kB1);
  // Accumulated gradients stay until the last microbatch.
  EXPECT_EQ(gradient_bytes(start(24, {.microbatches = 2})->compiled.program()), kW1 + kB1 + kW2);
}

/// The losses of a few steps of a small GPT-2, whose norms and GELUs are kept or made again.
std::vector<float> train_gpt2(std::optional<plan::RecomputeOptions> recomputes, int64_t* step_bytes) {
  const auto environment = Environment::make({.threads = 2}).value();
  const models::Gpt2Config config{
      .vocab_size = 97, .block_size = 16, .n_layer = 3, .n_head = 2, .n_embd = 32, .dropout = 0.1};
  const models::Model model = models::make_gpt2(config, 4, 16, environment->ops()).value();
  const auto training = make_training_graph(model, environment->ops(), {}, {.checks_gradients = false}).value();
  const CompiledProgram compiled = compile(training.graph, *environment, {.recomputes = recomputes}, {}).value();
  *step_bytes = compiled.plan.step_bytes;
  const auto arena = memory::try_make_host_arena(Bytes{compiled.plan.arena_bytes}, environment->pool()).value();
  initialize_parameters(model, compiled, *arena);
  Runner runner(compiled, *environment, arena->data());
  std::vector<std::vector<int32_t>> ids;
  for (const graph::Value& value : training.graph.values()) {
    if (value.kind != graph::ValueKind::kInput) continue;
    auto& data = ids.emplace_back(static_cast<size_t>(value.desc.numel()));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(Philox(ids.size())(i, 0)[0] % 97);
    runner.set_feed(value.name, data.data());
  }
  std::vector<float> losses;
  for (int64_t step = 1; step <= 4; ++step) {
    runner.set_scalar("lr", 0.01f);
    runner.set_scalar("step", step);
    runner.set_scalar("seed", int64_t{3});
    runner.set_scalar("microbatch", int64_t{0});
    runner.set_scalar("inv_valid_tokens", 1.0f / 64);
    EXPECT_TRUE(runner.run().is_finite);
    losses.push_back(runner.scalar_output("loss"));
  }
  return losses;
}

TEST(Training, RecomputationSavesMemoryAndChangesNoBit) {
  int64_t kept_bytes = 0, again_bytes = 0;
  // In so small a model no work is small beside the products.
  EXPECT_EQ(train_gpt2({}, &kept_bytes), train_gpt2(plan::RecomputeOptions{.most_work = 0.5}, &again_bytes));
  EXPECT_LT(again_bytes, kept_bytes * 9 / 10);
}

TEST(Training, ALossThatIsNotFiniteStopsTheStepBeforeAnyUpdate) {
  const auto run = start(24, {});
  const std::vector<std::byte> before(run->arena->data(), run->arena->data() + run->compiled.plan.state_bytes);
  std::vector<float> x = random_floats(24 * 8, 1);
  const std::vector<float> y(24 * 2, std::numeric_limits<float>::infinity());
  run->runner->set_scalar("lr", 0.01f);
  run->runner->set_scalar("step", int64_t{1});
  run->runner->set_feed("x", x.data(), 24 * 8 * 4);
  run->runner->set_feed("y", y.data(), 24 * 2 * 4);
  EXPECT_FALSE(run->runner->run().is_finite);
  EXPECT_EQ(std::memcmp(before.data(), run->arena->data(), before.size()), 0);
}

}  // namespace
}  // namespace plimsoll::engine
