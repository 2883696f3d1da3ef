#pragma once

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Lets attention read queries, keys and values where their common projection left them, side by side, and write their
/// gradients alike: split → attention becomes attention_packed, attention_grad → concat attention_packed_grad, and the
/// copies go. Bits stay. Only where nobody else reads the pieces.
graph::Graph fuse_attention_layout(const graph::Graph& graph, const ops::OpTable& ops);

}  // namespace plimsoll::transform
