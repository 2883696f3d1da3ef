#include "models/mlp.h"

#include <algorithm>
#include <cmath>

#include "core/suggest.h"
#include "models/nn/layers.h"
#include "models/sizes.h"

namespace plimsoll::models {
namespace {

using graph::ValueId;

Status check_choice(const std::string& name, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  std::string list;
  for (const std::string& choice : choices) list += (list.empty() ? "" : ", ") + choice;
  return invalid_argument("[mlp] " + name + " is '" + value + "'; expected one of " + list + suggest(value, choices));
}

ValueId linear(ModelBuilder& b, size_t index, ValueId x, int64_t out) {
  if (!b.status().ok()) return {};
  const Initializer start = uniform(1 / std::sqrt(static_cast<double>(b.desc(x).shape.at(-1))));
  return nn::linear(b, "layers." + std::to_string(index), x, out, {.weight = start, .bias = start});
}

ValueId prediction(ModelBuilder& b, const MlpConfig& config, ValueId x) {
  for (size_t i = 0; i < config.hidden.size(); ++i) x = b.add(config.activation, {linear(b, i, x, config.hidden[i])});
  return linear(b, config.hidden.size(), x, config.out);
}

Status check_call(const MlpConfig& config, int64_t batch) {
  PLIMSOLL_RETURN_IF_ERROR(check_config(config));
  return check_sizes("mlp", {{"batch", batch, kMostIds}});
}

}  // namespace

Status check_config(const MlpConfig& c) {
  PLIMSOLL_RETURN_IF_ERROR(check_sizes("mlp", {{"in", c.in, kMostWidth}, {"out", c.out, kMostWidth}}));
  for (const int64_t size : c.hidden) PLIMSOLL_RETURN_IF_ERROR(check_sizes("mlp", {{"hidden", size, kMostWidth}}));
  PLIMSOLL_RETURN_IF_ERROR(check_choice("activation", c.activation, {"relu", "gelu", "tanh", "sigmoid"}));
  return check_choice("loss", c.loss, {"mse", "cross_entropy"});
}

Result<Model> make_mlp(const MlpConfig& config, int64_t batch, const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_call(config, batch));
  Model model{.name = "mlp", .graph = graph::Graph("mlp"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const ValueId x = b.input("x", {DType::kF32, {batch, config.in}, {}});
  const bool is_classifier = config.loss == "cross_entropy";
  const ValueId targets = b.input("targets", is_classifier ? TensorDesc{DType::kI32, {batch}, {}}
                                                           : TensorDesc{DType::kF32, {batch, config.out}, {}});
  std::vector<ValueId> srcs{prediction(b, config, x), targets};
  if (is_classifier) srcs.push_back(b.scalar("inv_valid_tokens", DType::kF32));
  model.loss = b.add(config.loss, srcs, {}, {.name = "loss"});
  PLIMSOLL_RETURN_IF_ERROR(b.status());
  return model;
}

Result<Model> make_mlp_prediction(const MlpConfig& config, int64_t batch, const ops::OpTable& ops) {
  PLIMSOLL_RETURN_IF_ERROR(check_call(config, batch));
  Model model{.name = "mlp", .graph = graph::Graph("mlp.prediction"), .loss = {}, .parameters = {}};
  ModelBuilder b(model, ops);
  const ValueId out = prediction(b, config, b.input("x", {DType::kF32, {batch, config.in}, {}}));
  PLIMSOLL_RETURN_IF_ERROR(b.status());
  model.graph.add_output("prediction", out);
  return model;
}

}  // namespace plimsoll::models
