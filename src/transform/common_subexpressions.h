#pragma once

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Computes once what several nodes of a phase compute from the same values with the same op and attributes, and keeps
/// one of equal constants. Readers then read the first.
///
/// Nodes of different phases stay apart: an update node runs once a step where the others run once a microbatch, and
/// whether a forward value is kept for the backward pass is the plan's decision. Left alone too: nodes that add into a
/// buffer or update a state, values whose storage somebody overwrites, and nodes without inputs, which are cheaper to
/// run again than to keep.
/// Random ops carry their path as an attribute, so two of them never are the same.
/// Cost: O(nodes × length of their text).
graph::Graph eliminate_common_subexpressions(const graph::Graph& graph, const ops::OpTable& ops);

}  // namespace plimsoll::transform
