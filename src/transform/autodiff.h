#pragma once

#include <string>
#include <vector>

#include "ops/builder.h"

namespace plimsoll::transform {

struct Gradients {
  struct Entry {
    graph::ValueId value;
    graph::ValueId gradient;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;             ///< one for each wanted value that the loss depends on, in the order wanted
  std::vector<graph::ValueId> unreached;  ///< wanted values on which the loss does not depend
  std::vector<std::string> notes;         ///< what gradient rules say of themselves that a user should hear
};

/// Appends the backward pass of `loss` (reverse mode) to the builder's graph: for each wanted value, d loss / d value.
///
/// Gradients that several uses of a value contribute are added in reverse order of the uses; where an op can add into a
/// buffer and nobody else reads that buffer later, it does, so that no extra pass over memory exists.
///
/// Requires: wanted values are floating.
/// Errors: invalid_argument where `loss` is no floating scalar or a wanted value is computed; unsupported, naming every
/// op without a gradient on a path from a wanted value to the loss, or the output through which none flows.
/// Source: Griewank and Walther, Evaluating Derivatives, 2008, chapter 3.
Result<Gradients> differentiate(ops::Builder& builder, graph::ValueId loss, std::span<const graph::ValueId> wanted);

/// The trainable parameters of a graph, in order.
std::vector<graph::ValueId> trainable_parameters(const graph::Graph& graph);

}  // namespace plimsoll::transform
