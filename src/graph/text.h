#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

namespace plimsoll::graph {

/// One line a value or node; `try_parse_graph` reads it back to the same graph, ids included, whose text is the same.
///
///     graph "tiny"
///     %0 = input "x" : f32[2,3]
///     %1 = parameter trainable "w" : f32[3,4]@plain+1x8
///     %2 = matmul "fc" forward (%0, %1) {transpose_b=false} : f32[2,4]
///     output "y" %2
///     update %1 <- %9
///     check %8 "loss"
///
/// A node whose outputs add into buffers has `accumulate(0)` before its types. Text in quotes is as `quote` writes it;
/// ops and attributes whose names are no words stand in quotes too. Requires: the graph verifies.
std::string to_text(const Graph& graph);

/// Reads what `to_text` writes. Behind the first, lines may stand in any order that keeps nodes, outputs, updates and
/// checks in theirs; values are numbered from 0 without gaps.
///
/// Errors: corrupt with the line's number and what is wrong there, or what `verify` says of the whole.
Result<Graph> try_parse_graph(std::string_view text);

}  // namespace plimsoll::graph
