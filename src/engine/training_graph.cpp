#include "engine/training_graph.h"

#include "transform/autodiff.h"

namespace plimsoll::engine {

Result<TrainingGraph> make_training_graph(const models::Model& model, const ops::OpTable& ops,
                                          const optim::OptimizerConfig& optimizer, optim::UpdateOptions update,
                                          transform::GraphDump* dump, std::span<const std::string> fusions) {
  TrainingGraph out{.graph = model.graph, .notes = {}};
  const auto dump_as = [&](const char* stage) {
    return dump == nullptr ? Status() : dump->try_write(stage, out.graph);
  };
  PLIMSOLL_RETURN_IF_ERROR(dump_as("built"));
  ops::Builder builder(out.graph, ops);
  const std::vector<graph::ValueId> trainable = transform::trainable_parameters(out.graph);
  PLIMSOLL_ASSIGN(const transform::Gradients gradients, transform::differentiate(builder, model.loss, trainable));
  PLIMSOLL_RETURN_IF_ERROR(dump_as("autodiff"));
  for (graph::ValueId id : gradients.unreached)
    out.notes.push_back("no gradient reaches the trainable parameter '" + out.graph.value(id).name + "'");
  out.notes.insert(out.notes.end(), gradients.notes.begin(), gradients.notes.end());
  if (!out.graph.find_output("loss").is_valid()) out.graph.add_output("loss", model.loss);
  out.graph.add_check(model.loss, "loss");
  update.decays = [&](const graph::Value& parameter) {
    const auto it = model.parameters.find(parameter.name);
    return it == model.parameters.end() || it->second.decays;
  };
  PLIMSOLL_RETURN_IF_ERROR(optim::add_updates(builder, gradients, optimizer, update));
  PLIMSOLL_RETURN_IF_ERROR(dump_as("updates"));
  const transform::PassOptions passes{.passes = transform::passes_with_fusions(fusions), .dump = dump};
  PLIMSOLL_ASSIGN(out.graph, transform::run_passes(std::move(out.graph), ops, passes));
  return out;
}

}  // namespace plimsoll::engine
