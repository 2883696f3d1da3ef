#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "engine/session.h"
#include "fixture.h"
#include "models/bert.h"
#include "models/gpt2.h"

namespace plimsoll::parity {
namespace {

using engine::Environment;
using engine::Runner;
using optim::OptimizerConfig;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBatch = 4;

/// A model and what PyTorch recorded of it.
struct Subject {
  std::string name;
  std::function<Result<models::Model>(int64_t batch, const ops::OpTable& ops)> make;
};

const Subject kGpt2{"gpt2", [](int64_t batch, const ops::OpTable& ops) {
                      const models::Gpt2Config config{
                          .vocab_size = 101, .block_size = 20, .n_layer = 2, .n_head = 2, .n_embd = 24};
                      return models::make_gpt2(config, batch, 16, ops);
                    }};

const Subject kBert{"bert", [](int64_t batch, const ops::OpTable& ops) {
                      const models::BertConfig config{.vocab_size = 101,
                                                      .max_position_embeddings = 20,
                                                      .num_hidden_layers = 2,
                                                      .num_attention_heads = 2,
                                                      .hidden_size = 24,
                                                      .intermediate_size = 96};
                      return models::make_bert(config, batch, 16, ops);
                    }};

/// One of the fixture's runs, and into how many microbatches its batches are cut.
struct Recipe {
  std::string run;
  OptimizerConfig optimizer;
  double clip_norm = kInfinity;
  int64_t microbatches = 1;

  friend std::ostream& operator<<(std::ostream& out, const Recipe& r) {
    return out << r.run << " in " << r.microbatches << " microbatches";
  }
};

const OptimizerConfig kAdamW{.name = "adamw", .lr = 1e-3, .weight_decay = 0.1};

/// Names the inputs of batch `step` modulo the number of batches, and sets the step's scalars.
void feed(Runner& runner, const Fixture& fixture, int64_t step, const Recipe& recipe) {
  runner.set_scalar("lr", static_cast<float>(recipe.optimizer.lr));
  runner.set_scalar("step", step + 1);
  for (const auto& [name, input] : fixture.inputs) {
    const int32_t* batch = input.values.data() + (step % fixture.batches) * input.batch_numel;
    runner.set_feed(name, batch, input.batch_numel / recipe.microbatches * int64_t{sizeof(int32_t)});
    if (name != "targets") continue;
    const auto ignored = std::count(batch, batch + input.batch_numel, -100);
    runner.set_scalar("inv_valid_tokens", 1.0f / static_cast<float>(input.batch_numel - ignored));
  }
  runner.set_scalar("inv_valid_sentences", 1.0f / static_cast<float>(kBatch));
}

struct Curve {
  std::vector<float> losses;
  std::vector<float> norms;
};

/// Trains in a session, from the fixture's weights, for as many steps as the fixture has.
Curve train(const Subject& subject, const Fixture& fixture, const Recipe& recipe) {
  const auto environment = Environment::make({.threads = 2}).value();
  engine::SessionSpec spec{.training = subject.make(kBatch / recipe.microbatches, environment->ops()).value(),
                           .optimizer = recipe.optimizer,
                           .update = {.clip_norm = recipe.clip_norm},
                           .microbatches = recipe.microbatches};
  auto plan = engine::plan_session(std::move(spec), *environment, {}, 0).value();
  const auto session = engine::Session::make(std::move(plan), *environment, 1).value();
  for (const engine::TensorView& parameter : session->parameters())
    std::memcpy(parameter.data, fixture.weights.at(parameter.name).data(),
                static_cast<size_t>(parameter.desc.size_bytes()));
  Curve out;
  for (size_t step = 0; step < fixture.losses.at(recipe.run).size(); ++step) {
    feed(session->train(), fixture, static_cast<int64_t>(step), recipe);
    EXPECT_TRUE(session->train().run().is_finite);
    out.losses.push_back(session->train().scalar_output("loss"));
    out.norms.push_back(session->train().scalar_output("grad_norm"));
  }
  return out;
}

/// Makes every parameter's gradient an output of its name.
void expose_gradients(graph::Graph& graph) {
  const std::vector<graph::StateUpdate> updates(graph.updates().begin(), graph.updates().end());
  for (const graph::StateUpdate& update : updates) {
    if (graph.value(update.state).kind != graph::ValueKind::kParameter) continue;
    const graph::Node& rule = graph.node(graph.value(update.next).producer);
    graph.add_output(graph.value(update.state).name, rule.inputs[1]);
  }
}

/// The gradients of the first batch at the fixture's weights.
std::map<std::string, std::vector<float>> gradients(const Subject& subject, const Fixture& fixture,
                                                    const Recipe& recipe) {
  const auto environment = Environment::make({.threads = 2}).value();
  const models::Model model = subject.make(kBatch / recipe.microbatches, environment->ops()).value();
  auto training = engine::make_training_graph(model, environment->ops(), recipe.optimizer, {}).value();
  expose_gradients(training.graph);
  const auto compiled =
      engine::compile(training.graph, *environment, {.microbatches = recipe.microbatches}, {}).value();
  const auto arena = memory::try_make_host_arena(Bytes{compiled.plan.arena_bytes}, environment->pool()).value();
  for (const auto& [name, offset] : compiled.state_offsets())
    if (const auto it = fixture.weights.find(name); it != fixture.weights.end())
      std::memcpy(arena->at(offset), it->second.data(), it->second.size() * sizeof(float));
  Runner runner(compiled, *environment, arena->data());
  feed(runner, fixture, 0, recipe);
  EXPECT_TRUE(runner.run().is_finite);
  std::map<std::string, std::vector<float>> out;
  for (const auto& [name, weight] : fixture.weights) {
    out[name].resize(weight.size());
    std::memcpy(out[name].data(), runner.output(name), weight.size() * sizeof(float));
  }
  return out;
}

double largest(const std::vector<float>& values) {
  double out = 0;
  for (float value : values) out = std::max(out, std::abs(double{value}));
  return out;
}

/// The largest |given - wanted| / |wanted|.
double relative_deviation(const std::vector<float>& given, const std::vector<float>& wanted) {
  double out = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    out = std::max(out, std::abs(double{given[i]} - wanted[i]) / std::abs(double{wanted[i]}));
  return out;
}

double largest_difference(const std::vector<float>& given, const std::vector<float>& wanted) {
  std::vector<float> difference(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) difference[i] = given[i] - wanted[i];
  return largest(difference);
}

void expect_equal_curves(const Subject& subject, const Recipe& recipe) {
  SCOPED_TRACE(testing::Message() << subject.name << " " << recipe);
  const Fixture fixture = read_fixture(subject.name);
  const Curve curve = train(subject, fixture, recipe);
  const double of_losses = relative_deviation(curve.losses, fixture.losses.at(recipe.run));
  const double of_norms = relative_deviation(curve.norms, fixture.norms.at(recipe.run));
  EXPECT_LE(of_losses, 1e-4);
  EXPECT_LE(of_norms, 1e-3);
  const std::string cut = "_in_" + std::to_string(recipe.microbatches);
  testing::Test::RecordProperty(recipe.run + "_loss" + cut, std::to_string(of_losses * 1e6) + "e-6");
  testing::Test::RecordProperty(recipe.run + "_norm" + cut, std::to_string(of_norms * 1e6) + "e-6");
}

bool is_zero_by_symmetry(const std::string& parameter) { return parameter.ends_with(".self.key.bias"); }

void expect_equal_gradients(const Subject& subject, int64_t microbatches) {
  SCOPED_TRACE(subject.name + " in " + std::to_string(microbatches) + " microbatches");
  const Fixture fixture = read_fixture(subject.name);
  const auto given = gradients(subject, fixture, {"adamw", kAdamW, kInfinity, microbatches});
  double scale_of_all = 0, worst = 0;
  for (const auto& [name, wanted] : fixture.gradients) scale_of_all = std::max(scale_of_all, largest(wanted));
  for (const auto& [name, wanted] : fixture.gradients) {
    // A bias of keys moves all scores of a query alike, so its gradient is zero but for rounding, on both sides: it has
    // no scale of its own, and is held against the largest gradient of all.
    const double scale = is_zero_by_symmetry(name) ? scale_of_all : largest(wanted);
    const double deviation = largest_difference(given.at(name), wanted) / scale;
    EXPECT_LE(deviation, 1e-5) << name;
    worst = std::max(worst, deviation);
  }
  testing::Test::RecordProperty("gradient_in_" + std::to_string(microbatches), std::to_string(worst * 1e6) + "e-6");
}

/// The recipes that the fixture has, beside AdamW.
std::vector<Recipe> other_recipes() {
  const auto sgd = [](double momentum, bool nesterov) {
    return OptimizerConfig{.name = "sgd",
                           .lr = momentum > 0 ? 0.02 : 0.1,
                           .weight_decay = 0.1,
                           .momentum = momentum,
                           .nesterov = nesterov};
  };
  return {{"adamw_clipped", kAdamW, 1.0},
          {"sgd_clipped", sgd(0, false), 1.0},
          {"momentum", sgd(0.9, false)},
          {"nesterov", sgd(0.9, true)},
          {"amsgrad", {.name = "adam", .lr = 1e-3, .weight_decay = 0.1, .amsgrad = true}}};
}

TEST(Gpt2Parity, GradientsOfTheFirstStep) {
  for (const int64_t microbatches : {1, 2, 4}) expect_equal_gradients(kGpt2, microbatches);
}

TEST(Gpt2Parity, LossesOfAHundredSteps) { expect_equal_curves(kGpt2, {"adamw", kAdamW}); }

// The second batch has a row without a valid token.
TEST(Gpt2Parity, LossesOfAHundredStepsInMicrobatches) {
  for (const int64_t microbatches : {2, 4}) expect_equal_curves(kGpt2, {"adamw", kAdamW, kInfinity, microbatches});
}

TEST(Gpt2Parity, EveryOptimizerAndClipping) {
  for (Recipe recipe : other_recipes())
    for (const int64_t microbatches : {1, 2}) {
      recipe.microbatches = microbatches;
      expect_equal_curves(kGpt2, recipe);
    }
}

TEST(BertParity, GradientsOfTheFirstStep) {
  for (const int64_t microbatches : {1, 2, 4}) expect_equal_gradients(kBert, microbatches);
}

TEST(BertParity, LossesOfAHundredSteps) { expect_equal_curves(kBert, {"adamw", kAdamW}); }

TEST(BertParity, LossesOfAHundredStepsInMicrobatches) {
  for (const int64_t microbatches : {2, 4}) expect_equal_curves(kBert, {"adamw", kAdamW, kInfinity, microbatches});
}

TEST(BertParity, EveryOptimizerAndClipping) {
  for (const Recipe& recipe : other_recipes()) expect_equal_curves(kBert, recipe);
}

}  // namespace
}  // namespace plimsoll::parity
