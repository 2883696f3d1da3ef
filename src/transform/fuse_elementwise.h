#pragma once

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Joins elementwise nodes of which each alone reads what the one before makes into one elementwise_chain, at the place
/// of the last: what stands between them never goes to memory. Bits stay.
graph::Graph fuse_elementwise(const graph::Graph& graph, const ops::OpTable& ops);

}  // namespace plimsoll::transform
