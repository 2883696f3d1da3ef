#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/chain.h"

namespace plimsoll::transform {

/// Nodes as steps on a value: the chain, its further sources, and the values that it keeps, in order.
struct ChainPart {
  ops::Chain chain;
  std::vector<graph::ValueId> srcs;
  std::vector<graph::ValueId> kept;
};

/// The node as steps on `value`, one of its inputs; nothing where it is no elementwise op on f32, reads it twice, or
/// has another source that does not repeat along leading axes.
std::optional<ChainPart> as_steps(const graph::Graph& graph, const graph::Node& node, graph::ValueId value);

/// Appends the steps of `more`; a source that both read is one.
void append(ChainPart& part, const ChainPart& more);

}  // namespace plimsoll::transform
