#pragma once

#include "graph/graph.h"

namespace plimsoll::transform {

/// Drops nodes that reach no output, update or check, and constants and scalars that nobody reads. A node of which one
/// output is read keeps them all.
///
/// `keeps_interface`: inputs, parameters and states stay though unread, so that feeds and checkpoints keep their names;
/// false drops those too.
/// Cost: O(values + uses).
graph::Graph eliminate_dead_code(const graph::Graph& graph, bool keeps_interface = true);

}  // namespace plimsoll::transform
