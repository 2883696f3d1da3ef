#include "models/gpt2.h"

#include <gmock/gmock.h>

#include "models/model_testing.h"

namespace plimsoll::models {
namespace {

constexpr Gpt2Config kTiny{.vocab_size = 11, .block_size = 8, .n_layer = 2, .n_head = 2, .n_embd = 8};

TEST(Gpt2, HasThePublishedNumberOfParameters) {
  const auto count = [](int64_t layers, int64_t heads, int64_t width) {
    const Gpt2Config config{.n_layer = layers, .n_head = heads, .n_embd = width};
    return make_gpt2(config, 1, 1024, test_ops()).value().parameter_count();
  };
  EXPECT_EQ(count(12, 12, 768), 124'439'808);
  EXPECT_EQ(count(24, 16, 1024), 354'823'168);
  EXPECT_EQ(count(36, 20, 1280), 774'030'080);
  EXPECT_EQ(count(48, 25, 1600), 1'557'611'200);
}

TEST(Gpt2, NamesShapesAndStartsItsParametersAsPublished) {
  const Model model = make_gpt2(kTiny, 2, 5, test_ops()).value();
  EXPECT_TRUE(graph::verify(model.graph).ok());
  EXPECT_EQ(model.parameters.size(), 2 + 2 * 12 + 2);
  const auto shape = [&](const char* name) { return model.graph.value(model.graph.find_value(name)).desc.shape; };
  EXPECT_EQ(shape("wte.weight"), (Shape{11, 8}));
  EXPECT_EQ(shape("wpe.weight"), (Shape{8, 8}));
  EXPECT_EQ(shape("h.0.attn.c_attn.weight"), (Shape{8, 24}));
  EXPECT_EQ(shape("h.1.mlp.c_fc.weight"), (Shape{8, 32}));
  EXPECT_EQ(shape("h.1.mlp.c_proj.bias"), (Shape{8}));
  EXPECT_EQ(shape("ln_f.weight"), (Shape{8}));
  EXPECT_EQ(model.parameters.at("h.0.attn.c_attn.weight"), (ParameterInfo{normal(0.02), true}));
  EXPECT_EQ(model.parameters.at("h.0.attn.c_proj.weight"), (ParameterInfo{normal(0.01), true}));
  EXPECT_EQ(model.parameters.at("h.1.mlp.c_proj.bias"), (ParameterInfo{constant(0), false}));
  EXPECT_EQ(model.parameters.at("h.1.ln_2.weight"), (ParameterInfo{constant(1), false}));
}

TEST(Gpt2, HasTheGradientOfItsLoss) {
  const GivenLeaves given{{"tokens", make_ids(10, 11, 1)},
                          {"targets", {1, 2, -100, 4, 5, 6, 7, -100, 9, 10}},
                          {"inv_valid_tokens", {1.0 / 8}},
                          {"seed", {3}},
                          {"step", {1}}};
  expect_gradients(make_gpt2(kTiny, 2, 5, test_ops()).value(), given);
  Gpt2Config dropping = kTiny;
  dropping.n_layer = 1;
  dropping.dropout = 0.3;
  expect_gradients(make_gpt2(dropping, 2, 5, test_ops()).value(), given);
}

TEST(Gpt2, DropsElementsByThePathOfTheNode) {
  Gpt2Config config = kTiny;
  config.dropout = 0.1;
  const Model model = make_gpt2(config, 1, 4, test_ops()).value();
  std::vector<std::string> paths;
  for (const graph::Node& node : model.graph.nodes()) {
    if (node.op != "dropout" && node.op != "attention") continue;
    EXPECT_EQ(node.attributes.get_float(node.op == "dropout" ? "p" : "dropout"), 0.1);
    EXPECT_EQ(node.attributes.get_string("path"), node.name);
    paths.push_back(node.name);
  }
  EXPECT_THAT(paths, testing::ElementsAre("drop", "h.0.attn.attention", "h.0.attn.resid_dropout", "h.0.mlp.dropout",
                                          "h.1.attn.attention", "h.1.attn.resid_dropout", "h.1.mlp.dropout"));
}

TEST(Gpt2, DropsNothingInInference) {
  Gpt2Config config = kTiny;
  config.dropout = 0.1;
  for (const auto& model : {make_gpt2_logits(config, 1, 4, LogitsOf::kAllPositions, test_ops()),
                            make_gpt2_decoder(config, 1, 1, 4, test_ops())})
    EXPECT_FALSE(model.value().graph.find_value("seed").is_valid());
}

TEST(Gpt2, GivesTheLogitsThatItsLossIsOf) {
  const GivenLeaves given{
      {"tokens", make_ids(10, 11, 1)}, {"targets", make_ids(10, 11, 2)}, {"inv_valid_tokens", {0.1}}};
  const Model training = make_gpt2(kTiny, 2, 5, test_ops()).value();
  const Model inference = make_gpt2_logits(kTiny, 2, 5, LogitsOf::kAllPositions, test_ops()).value();
  const ops::Array logits =
      evaluate_value(inference.graph, inference.graph.find_output("logits"), make_leaves(inference.graph, given));
  double expected = 0;
  for (int64_t row = 0; row < 10; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 11; ++i) sum += std::exp(logits[row * 11 + i]);
    expected +=
        0.1 * (std::log(sum) - logits[row * 11 + static_cast<int64_t>(given.at("targets")[static_cast<size_t>(row)])]);
  }
  EXPECT_NEAR(evaluate_value(training.graph, training.loss, make_leaves(training.graph, given))[0], expected, 1e-12);
}

/// Logits of the last of tokens [first, first + count) of each of two sequences of 7; `caches` go from step to step.
std::vector<double> decode(const std::vector<double>& tokens, int64_t first, int64_t count, GivenLeaves& caches) {
  const Model model = make_gpt2_decoder(kTiny, 2, count, 7, test_ops()).value();
  GivenLeaves given = caches;
  given["position"] = {static_cast<double>(first)};
  for (int64_t i = 0; i < count; ++i) given["positions"].push_back(static_cast<double>(first + i));
  for (const int64_t start : {first, 7 + first})
    given["tokens"].insert(given["tokens"].end(), tokens.begin() + start, tokens.begin() + start + count);
  const auto values = ops::evaluate_graph(test_ops(), model.graph, make_leaves(model.graph, given));
  for (const graph::StateUpdate& update : model.graph.updates())
    caches[model.graph.value(update.state).name] = values[update.next.index()].data;
  return values[model.graph.find_output("logits").index()].data;
}

TEST(Gpt2, DecodesStepByStepWhatTheWholeForwardPassGives) {
  const std::vector<double> tokens = make_ids(14, 11, 5);
  const Model all = make_gpt2_logits(kTiny, 2, 7, LogitsOf::kAllPositions, test_ops()).value();
  const ops::Array expected =
      evaluate_value(all.graph, all.graph.find_output("logits"), make_leaves(all.graph, {{"tokens", tokens}}));
  GivenLeaves caches;
  int64_t first = 0;
  for (const int64_t count : {3, 1, 1, 2}) {
    const std::vector<double> logits = decode(tokens, first, count, caches);
    first += count;
    ASSERT_EQ(logits.size(), 2 * 11);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 11; ++i)
        EXPECT_NEAR(logits[static_cast<size_t>(b * 11 + i)], expected[(b * 7 + first - 1) * 11 + i], 1e-12);
  }
  EXPECT_THAT(caches, testing::ElementsAre(testing::Key("h.0.attn.k_cache"), testing::Key("h.0.attn.v_cache"),
                                           testing::Key("h.1.attn.k_cache"), testing::Key("h.1.attn.v_cache")));
  const Model last = make_gpt2_logits(kTiny, 2, 7, LogitsOf::kLastPosition, test_ops()).value();
  EXPECT_EQ(last.graph.value(last.graph.find_output("logits")).desc.shape, (Shape{2, 11}));
}

TEST(Gpt2, SharesItsParametersWithItsDecoder) {
  const Model decoder = make_gpt2_decoder(kTiny, 1, 1, 8, test_ops()).value();
  EXPECT_TRUE(graph::verify(decoder.graph).ok());
  EXPECT_EQ(decoder.parameters, make_gpt2(kTiny, 4, 8, test_ops()).value().parameters);
}

TEST(Gpt2, SaysWhatIsWrongWithASetting) {
  const auto message = [](const Gpt2Config& config, int64_t batch, int64_t seq) {
    const auto model = make_gpt2(config, batch, seq, test_ops());
    return model.ok() ? "" : model.error().message;
  };
  EXPECT_EQ(message({.n_head = 0}, 1, 8), "[gpt2] n_head is 0; expected 1..1048576");
  EXPECT_EQ(message({.n_head = 7}, 1, 8), "[gpt2] n_head is 7, which does not divide n_embd 768");
  EXPECT_EQ(message({.vocab_size = -4}, 1, 8), "[gpt2] vocab_size is -4; expected 1..2147483647");
  EXPECT_EQ(message({.dropout = 1}, 1, 8), "[gpt2] dropout is 1.0; expected 0 <= dropout < 1");
  EXPECT_EQ(message({}, 1, 2048), "[gpt2] seq is 2048; expected 1..1024");
  EXPECT_EQ(message({}, int64_t{1} << 40, 1024), "[gpt2] batch is 1099511627776; expected 1..2147483647");
  const auto decoder = make_gpt2_decoder({}, 1, 4, 2048, test_ops());
  ASSERT_FALSE(decoder.ok());
  EXPECT_EQ(decoder.error().message, "[gpt2] context is 2048; expected 1..1024");
}

}  // namespace
}  // namespace plimsoll::models
