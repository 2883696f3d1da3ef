#pragma once

#include "core/result.h"
#include "graph/graph.h"

namespace plimsoll::graph {

/// Proves that a graph is well formed: every id exists, values are made once and before they are read, names are
/// unique, sizes do not overflow, phases do not go back, accumulators match their outputs and are not read after they
/// were overwritten, and updates target parameters or state with a value of the same description.
///
/// Errors: corrupt, naming the node or value. Cost: O(values + uses).
Status verify(const Graph& graph);

}  // namespace plimsoll::graph
