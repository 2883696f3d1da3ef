#include "models/zoo.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "models/model_testing.h"

namespace plimsoll::models {
namespace {

TEST(Zoo, BuildsEveryModelWithItsPublishedNumberOfParameters) {
  for (const ZooEntry& entry : zoo()) {
    const auto model = make_model(entry.name, 2, 64, test_ops());
    ASSERT_TRUE(model.ok()) << entry.name << ": " << model.error().message;
    EXPECT_EQ(model->parameter_count(), entry.parameter_count) << entry.name;
    EXPECT_EQ(model->name, entry.name);
    EXPECT_EQ(std::ssize(model->parameters), std::ranges::count_if(model->graph.values(), &graph::Value::is_trainable));
    EXPECT_TRUE(graph::verify(model->graph).ok()) << entry.name;
  }
}

TEST(Zoo, SuggestsTheNearestName) {
  const auto model = find_model("gpt2-124");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message,
            "there is no model 'gpt2-124'; known are gpt2-124m, gpt2-355m, gpt2-774m, gpt2-1.5b, bert-base, "
            "bert-large, mlp-mnist; did you mean 'gpt2-124m'?");
  EXPECT_TRUE(find_model("gpt3").error().message.ends_with("; did you mean 'gpt2-124m'?")) << "which begins alike";
  EXPECT_TRUE(find_model("resnet").error().message.ends_with("mlp-mnist")) << "nothing is near";
  EXPECT_EQ(family_of(find_model("bert-large").value().config), "bert");
}

TEST(Mlp, HasTheGradientOfItsLoss) {
  for (const char* activation : {"relu", "gelu", "tanh", "sigmoid"}) {
    const MlpConfig config{.in = 3, .hidden = {5, 4}, .out = 2, .activation = activation};
    const GivenLeaves given{{"x", {0.5, -1, 2, 1, 0.25, -0.5}}, {"targets", {1, -1, 0, 2}}};
    expect_gradients(make_mlp(config, 2, test_ops()).value(), given);
  }
  const MlpConfig classifier{.in = 3, .out = 4, .loss = "cross_entropy"};
  expect_gradients(make_mlp(classifier, 2, test_ops()).value(),
                   {{"x", {0.5, -1, 2, 1, 0.25, -0.5}}, {"targets", {3, 0}}, {"inv_valid_tokens", {0.5}}});
}

TEST(Mlp, PredictsWithTheParametersOfTraining) {
  const MlpConfig config{.in = 2, .hidden = {3}, .out = 1};
  const Model model = make_mlp_prediction(config, 4, test_ops()).value();
  EXPECT_EQ(model.parameters, make_mlp(config, 8, test_ops()).value().parameters);
  EXPECT_EQ(model.graph.value(model.graph.find_output("prediction")).desc.shape, (Shape{4, 1}));
}

TEST(Mlp, SaysWhatIsWrongWithASetting) {
  const auto message = [](const MlpConfig& config) -> std::string {
    const auto model = make_mlp(config, 1, test_ops());
    return model.ok() ? "" : model.error().message;
  };
  EXPECT_EQ(message({.hidden = {8, 0}}), "[mlp] hidden is 0; expected 1..1048576");
  EXPECT_EQ(message({.activation = "rely"}),
            "[mlp] activation is 'rely'; expected one of relu, gelu, tanh, sigmoid; did you mean 'relu'?");
  EXPECT_THAT(message({.loss = "mae"}), testing::StartsWith("[mlp] loss is 'mae'; expected one of mse, cross_entropy"));
}

}  // namespace
}  // namespace plimsoll::models
