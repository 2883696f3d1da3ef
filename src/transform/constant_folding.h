#pragma once

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// A larger constant costs more, fed anew in every step, than the kernel that makes it.
inline constexpr int64_t kMaxFoldedElements = 4096;

/// Evaluates nodes all of whose inputs are known (constants, nodes without inputs such as `fill`, and what follows from
/// them) and puts constants of at most `max_elements` in their place; the constant takes the value's name.
///
/// Left alone: nodes without inputs, since they are constants already; accumulating and updating nodes; values that are
/// outputs, next states or checked, or whose storage somebody overwrites; dtypes that constants cannot have.
/// Order: arithmetic in f64, rounded once to the value's dtype, so a folded value may differ from a computed one in its
/// last bits.
/// Cost: the reference evaluation of every folded node.
graph::Graph fold_constants(const graph::Graph& graph, const ops::OpTable& ops,
                            int64_t max_elements = kMaxFoldedElements);

}  // namespace plimsoll::transform
