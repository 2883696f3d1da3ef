#include "engine/training_graph.h"

#include "transform/autodiff.h"
#include "transform/passes.h"

namespace plimsoll::engine {

Result<TrainingGraph> make_training_graph(const models::Model& model, const ops::OpTable& ops,
                                          const optim::OptimizerConfig& optimizer, optim::UpdateOptions update) {
  TrainingGraph out{.graph = model.graph};
  ops::Builder builder(out.graph, ops);
  const std::vector<graph::ValueId> trainable = transform::trainable_parameters(out.graph);
  PLIMSOLL_ASSIGN(const transform::Gradients gradients, transform::differentiate(builder, model.loss, trainable));
  for (graph::ValueId id : gradients.unreached) out.unreached.push_back(out.graph.value(id).name);
  if (!out.graph.find_output("loss").is_valid()) out.graph.add_output("loss", model.loss);
  out.graph.add_check(model.loss, "loss");
  update.decays = [&](const graph::Value& parameter) {
    const auto it = model.parameters.find(parameter.name);
    return it == model.parameters.end() || it->second.decays;
  };
  PLIMSOLL_RETURN_IF_ERROR(optim::add_updates(builder, gradients, optimizer, update));
  PLIMSOLL_ASSIGN(out.graph, transform::run_passes(std::move(out.graph), ops));
  return out;
}

}  // namespace plimsoll::engine
