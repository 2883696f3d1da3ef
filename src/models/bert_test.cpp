#include "models/bert.h"

#include <algorithm>
#include <cmath>

#include "models/model_testing.h"

namespace plimsoll::models {
namespace {

constexpr BertConfig kTiny{.vocab_size = 11,
                           .max_position_embeddings = 8,
                           .num_hidden_layers = 1,
                           .num_attention_heads = 2,
                           .hidden_size = 8,
                           .intermediate_size = 16};

int64_t numel_below(const Model& model, std::string_view prefix) {
  int64_t sum = 0;
  for (const graph::Value& value : model.graph.values())
    if (value.kind == graph::ValueKind::kParameter && value.name.starts_with(prefix)) sum += value.desc.numel();
  return sum;
}

TEST(Bert, HasThePublishedNumberOfParameters) {
  const Model base = make_bert({}, 1, 512, test_ops()).value();
  EXPECT_EQ(numel_below(base, "bert."), 109'482'240);
  EXPECT_EQ(base.parameter_count(), 110'106'428);
  const BertConfig large{
      .num_hidden_layers = 24, .num_attention_heads = 16, .hidden_size = 1024, .intermediate_size = 4096};
  const Model model = make_bert(large, 1, 512, test_ops()).value();
  EXPECT_EQ(numel_below(model, "bert."), 335'141'888);
  EXPECT_EQ(model.parameter_count(), 336'226'108);
}

TEST(Bert, NamesItsParametersAsPublished) {
  const Model model = make_bert(kTiny, 2, 4, test_ops()).value();
  EXPECT_TRUE(graph::verify(model.graph).ok());
  for (const char* name :
       {"bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.bias",
        "bert.encoder.layer.0.attention.self.query.weight", "bert.encoder.layer.0.attention.output.dense.bias",
        "bert.encoder.layer.0.attention.output.LayerNorm.weight", "bert.encoder.layer.0.intermediate.dense.weight",
        "bert.encoder.layer.0.output.dense.weight", "bert.encoder.layer.0.output.LayerNorm.weight",
        "bert.pooler.dense.weight", "cls.predictions.bias", "cls.predictions.transform.dense.weight",
        "cls.predictions.transform.LayerNorm.weight", "cls.seq_relationship.weight"})
    EXPECT_TRUE(model.parameters.contains(name)) << name;
  EXPECT_EQ(model.parameters.size(), 5 + 16 + 2 + 1 + 4 + 2);
}

TEST(Bert, HasTheGradientOfItsLoss) {
  const GivenLeaves given{{"tokens", make_ids(8, 11, 1)},
                          {"segments", {0, 0, 1, 1, 0, 1, 1, 1}},
                          {"targets", {-100, 3, -100, -100, 5, -100, 7, -100}},
                          {"next_sentence", {1, 0}},
                          {"inv_valid_tokens", {1.0 / 3}},
                          {"inv_valid_sentences", {0.5}}};
  expect_gradients(make_bert(kTiny, 2, 4, test_ops()).value(), given);
  BertConfig config = kTiny;
  config.has_next_sentence = false;
  const Model tokens_alone = make_bert(config, 2, 4, test_ops()).value();
  EXPECT_FALSE(tokens_alone.graph.find_value("segments").is_valid());
  expect_gradients(tokens_alone, given);
}

TEST(Bert, DropsWhatThePublishedModelDrops) {
  BertConfig config = kTiny;
  config.dropout = 0.1;
  const Model model = make_bert(config, 2, 4, test_ops()).value();
  std::vector<std::string> paths;
  for (const graph::Node& node : model.graph.nodes())
    if (node.attributes.has("path")) paths.push_back(node.attributes.get_string("path"));
  const std::string layer = "bert.encoder.layer.0.";
  EXPECT_EQ(paths, (std::vector<std::string>{"bert.embeddings.dropout", layer + "attention.attention",
                                             layer + "attention.output.dropout", layer + "output.dropout"}));
}

TEST(Bert, MakesTheGradientsOfItsHeadInTheForwardPass) {
  Model model = make_bert(kTiny, 2, 4, test_ops()).value();
  ops::Builder builder(model.graph, test_ops());
  const auto wanted = transform::trainable_parameters(model.graph);
  ASSERT_TRUE(transform::differentiate(builder, model.loss, wanted).ok());
  const auto count = [&](std::string_view op) {
    return std::ranges::count_if(model.graph.nodes(), [&](const graph::Node& node) { return node.op == op; });
  };
  EXPECT_EQ(count("linear_cross_entropy"), 0);
  EXPECT_EQ(count("linear_cross_entropy_with_grad"), 1);
}

TEST(Bert, AddsTheLossOfTheNextSentence) {
  GivenLeaves given{{"tokens", make_ids(8, 11, 1)},
                    {"targets", std::vector<double>(8, -100)},
                    {"next_sentence", {1, 0}},
                    {"inv_valid_sentences", {0.5}},
                    {"cls.seq_relationship.weight", std::vector<double>(16)},
                    {"cls.seq_relationship.bias", {0, 0}}};
  const Model model = make_bert(kTiny, 2, 4, test_ops()).value();
  EXPECT_NEAR(evaluate_value(model.graph, model.loss, make_leaves(model.graph, given))[0], std::log(2), 1e-12);
}

TEST(Bert, SaysWhatIsWrongWithASetting) {
  const auto message = [](const BertConfig& config, int64_t seq) {
    const auto model = make_bert(config, 1, seq, test_ops());
    return model.ok() ? "" : model.error().message;
  };
  EXPECT_EQ(message({.hidden_size = -1}, 8), "[bert] hidden_size is -1; expected 1..1048576");
  EXPECT_EQ(message({.num_attention_heads = 5}, 8),
            "[bert] num_attention_heads is 5, which does not divide hidden_size 768");
  EXPECT_EQ(message({.layer_norm_eps = 0}, 8),
            "[bert] epsilon of layer norms is 0.0; expected a finite number above 0");
  EXPECT_EQ(message({}, 513), "[bert] seq is 513; expected 1..512");
}

}  // namespace
}  // namespace plimsoll::models
