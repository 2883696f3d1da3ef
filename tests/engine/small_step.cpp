#include "engine/small_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/hash.h"
#include "core/philox.h"
#include "models/nn/layers.h"

namespace plimsoll::engine {
namespace {

constexpr double kLearningRate = 0.01;
constexpr int64_t kClasses = 10;
constexpr int32_t kIgnored = -100;

/// One over the i32 in it.
float inverse_count(const std::vector<std::byte>& bytes) {
  return 1.0f / static_cast<float>(static_cast<int64_t>(bytes.size() / sizeof(int32_t)));
}

/// Whole numbers are drawn below this.
int64_t classes_of(const graph::Value& input) {
  if (input.name == "segments" || input.name == "next_sentence") return 2;
  return input.name == "targets" && input.desc.shape.rank() == 1 ? kClasses : kTinyVocabulary;
}

bool is_update(const graph::Node& node) {
  return node.phase == graph::Phase::kUpdate && node.name.ends_with(".update");
}

/// Every update reads the parameter first and its gradient second.
void add_gradient_outputs(graph::Graph& graph) {
  for (const graph::Node& node : graph.nodes())
    if (is_update(node)) graph.add_output(graph.value(node.inputs[0]).name + ".grad", node.inputs[1]);
}

std::vector<float> to_floats(const std::byte* data, const TensorDesc& desc) {
  std::vector<float> out(static_cast<size_t>(desc.numel()));
  std::memcpy(out.data(), data, out.size() * sizeof(float));
  return out;
}

}  // namespace

models::Model make_tiny_gpt2(const ops::OpTable& ops, int64_t batch, int64_t seq, double dropout) {
  const models::Gpt2Config config{
      .vocab_size = kTinyVocabulary, .block_size = 512, .n_layer = 2, .n_head = 2, .n_embd = 32, .dropout = dropout};
  return models::make_gpt2(config, batch, seq, ops).value();
}

models::Model make_tiny_bert(const ops::OpTable& ops, int64_t batch, int64_t seq, double dropout) {
  const models::BertConfig config{.vocab_size = kTinyVocabulary,
                                  .max_position_embeddings = 64,
                                  .num_hidden_layers = 1,
                                  .num_attention_heads = 2,
                                  .hidden_size = 32,
                                  .intermediate_size = 64,
                                  .dropout = dropout};
  return models::make_bert(config, batch, seq, ops).value();
}

models::Model make_mlp(const ops::OpTable& ops, int64_t batch, int64_t width) {
  models::Model model{.name = "mlp"};
  models::ModelBuilder b(model, ops);
  const auto x = b.input("x", {DType::kF32, {batch, 16}, {}});
  const auto targets = b.input("targets", {DType::kI32, {batch}, {}});
  const models::nn::LinearOptions linear{.weight = models::normal(0.2)};
  auto h = b.add("relu", {models::nn::linear(b, "fc1", x, width, linear)});
  h = b.add("gelu", {models::nn::linear(b, "fc2", h, width, linear)});
  h = models::nn::linear(b, "fc3", h, kClasses, linear);
  model.loss = b.add("cross_entropy", {h, targets, b.scalar("inv_valid_tokens", DType::kF32)}, {}, {.name = "loss"});
  PLIMSOLL_CHECK(b.status().ok(), b.status().error().message);
  return model;
}

SmallStep::SmallStep(Environment& environment, const models::Model& model, const SmallStepOptions& options) {
  graph::Graph graph = make_training_graph(model, environment.ops(), options.optimizer,
                                           {.checks_gradients = options.checks_gradients}, nullptr, options.fusions)
                           .value()
                           .graph;
  if (options.gives_gradients) add_gradient_outputs(graph);
  const LowerOptions lowering{.microbatches = options.microbatches, .in_place = options.in_place};
  compiled_ = compile(graph, environment, lowering, {.fence_bytes = options.fence_bytes}).value();
  arena_ = memory::try_make_host_arena(Bytes{compiled_.plan.arena_bytes}, environment.pool()).value();
  runner_ = std::make_unique<Runner>(compiled_, environment, arena_->data());
  fill_state(model);
  fill_inputs(graph, options.microbatches);
}

void SmallStep::fill_state(const models::Model& model) {
  for (const auto& [name, info] : model.parameters) models::initialize(state_of(name), 0, info.initializer, name, 7);
}

void SmallStep::fill_inputs(const graph::Graph& graph, int64_t microbatches) {
  const bool has_segments = graph.find_value("segments").is_valid();
  for (const graph::Value& value : graph.values()) {
    if (value.kind != graph::ValueKind::kInput) continue;
    inputs_[value.name].resize(static_cast<size_t>(value.desc.size_bytes() * microbatches));
    const Philox random(stable_hash(value.name));
    const bool is_masked = has_segments && value.name == "targets";
    for (uint64_t i = 0; i < static_cast<uint64_t>(value.desc.numel() * microbatches); ++i) {
      const uint32_t word = random(i, 0)[0];
      if (value.desc.dtype == DType::kF32)
        input<float>(value.name)[i] = to_unit_float(word) - 0.5f;
      else
        input<int32_t>(value.name)[i] =
            is_masked && i % 4 != 1 ? kIgnored : static_cast<int32_t>(word % static_cast<uint32_t>(classes_of(value)));
    }
    runner_->set_feed(value.name, inputs_[value.name].data(), value.desc.size_bytes());
  }
  if (has_segments) runner_->set_scalar("inv_valid_sentences", inverse_count(inputs_.at("next_sentence")));
  runner_->set_scalar("inv_valid_tokens", inverse_count(inputs_.at("targets")));
}

void SmallStep::set_scalars(int64_t step) {
  runner_->set_scalar("lr", static_cast<float>(kLearningRate));
  runner_->set_scalar("step", step);
  runner_->set_scalar("seed", int64_t{11});
}

runtime::Outcome SmallStep::run(int64_t step) {
  set_scalars(step);
  return runner_->run();
}

runtime::GuardReport SmallStep::run_guarded(int64_t step, const runtime::GuardOptions& options) {
  set_scalars(step);
  const auto feed = [this](runtime::InstructionId id, int64_t iteration) { return runner_->feed(id, iteration); };
  return runtime::run_guarded(runner_->executor(), arena_->bytes(), Space::kHost, feed, options);
}

Tensors SmallStep::state() const {
  Tensors out;
  const auto offsets = compiled_.state_offsets();
  for (const auto& [name, place] : compiled_.lowered.state)
    out[name] = to_floats(arena_->at(offsets.at(name)), place.desc);
  return out;
}

Tensors SmallStep::outputs() const {
  Tensors out;
  for (const auto& [name, desc] : compiled_.lowered.outputs) out[name] = to_floats(runner_->output(name), desc);
  return out;
}

std::span<float> SmallStep::state_of(const std::string& name) {
  const Place& place = compiled_.lowered.state.at(name);
  auto* data = reinterpret_cast<float*>(arena_->at(compiled_.state_offsets().at(name)));
  return {data, static_cast<size_t>(place.desc.numel())};
}

std::unique_ptr<Environment> make_environment(int threads) { return Environment::make({.threads = threads}).value(); }

void expect_equal_bits(const Tensors& got, const Tensors& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (const auto& [name, values] : want) {
    ASSERT_TRUE(got.contains(name)) << what << ": " << name;
    const std::vector<float>& others = got.at(name);
    ASSERT_EQ(others.size(), values.size()) << what << ": " << name;
    EXPECT_EQ(std::memcmp(others.data(), values.data(), values.size() * sizeof(float)), 0) << what << ": " << name;
  }
}

double largest_difference(const Tensors& got, const Tensors& want) {
  double largest = 0;
  for (const auto& [name, values] : want) {
    const std::vector<float>& others = got.at(name);
    PLIMSOLL_CHECK(others.size() == values.size(), name);
    for (size_t i = 0; i < values.size(); ++i) {
      const double difference = std::abs(static_cast<double>(others[i]) - static_cast<double>(values[i]));
      // A NaN is the largest difference of all.
      if (!(difference <= largest * std::max(1.0, std::abs(static_cast<double>(values[i])))))
        largest = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                         : difference / std::max(1.0, std::abs(static_cast<double>(values[i])));
    }
  }
  return largest;
}

}  // namespace plimsoll::engine
