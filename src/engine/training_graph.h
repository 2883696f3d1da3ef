#pragma once

#include "models/model.h"
#include "optim/optimizer.h"
#include "transform/graph_dump.h"
#include "transform/passes.h"

namespace plimsoll::engine {

struct TrainingGraph {
  graph::Graph graph;
  std::vector<std::string> notes;  ///< what the user should hear: parameters without a gradient, work done twice
};

/// The whole step of a model: forward, the check of the loss, backward, update. Outputs: "loss", and "grad_norm" where
/// gradients are checked or clipped.
///
/// `dump` takes the graph as `built`, after `autodiff`, with its `updates`, and after each pass. `fusions` are those of
/// transform::fusion_names() that run.
Result<TrainingGraph> make_training_graph(const models::Model& model, const ops::OpTable& ops,
                                          const optim::OptimizerConfig& optimizer, optim::UpdateOptions update,
                                          transform::GraphDump* dump = nullptr,
                                          std::span<const std::string> fusions = transform::fusion_names());

}  // namespace plimsoll::engine
