#pragma once

#include <vector>

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// The value whose storage `id` is a view of, through any number of views; `id` itself where it is none.
graph::ValueId view_root(const graph::Graph& graph, const ops::OpTable& ops, graph::ValueId id);

/// Whether an output of this node must overwrite its input: the next version of a state.
bool updates_in_place(const graph::Graph& graph, const ops::OpTable& ops, const graph::Node& node);

/// By value: some node adds into its storage or updates it in place, directly or through a view. A pass may not let
/// such a value stand for another one, nor turn it into a constant.
std::vector<bool> find_overwritten(const graph::Graph& graph, const ops::OpTable& ops);

}  // namespace plimsoll::transform
