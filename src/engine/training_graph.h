#pragma once

#include "models/model.h"
#include "optim/optimizer.h"

namespace plimsoll::engine {

struct TrainingGraph {
  graph::Graph graph;
  std::vector<std::string> unreached;  ///< trainable parameters on which the loss does not depend
};

/// The whole step of a model: forward, the check of the loss, backward, update. Outputs: "loss", and "grad_norm" where
/// gradients are checked or clipped.
Result<TrainingGraph> make_training_graph(const models::Model& model, const ops::OpTable& ops,
                                          const optim::OptimizerConfig& optimizer, optim::UpdateOptions update);

}  // namespace plimsoll::engine
