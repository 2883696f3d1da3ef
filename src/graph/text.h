#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

namespace plimsoll::graph {

/// One line a value or node; `try_parse_graph` reads it back to an equal graph.
///
///     graph "tiny"
///     %0 = input "x" : f32[2,3]
///     %1 = parameter trainable "w" : f32[3,4]
///     %2 = matmul "fc" forward (%0, %1) {transpose_b=false} : f32[2,4]
///     output "y" %2
///     update %1 <- %9
///     check %8 "loss"
///
/// A node whose outputs add into buffers has `accumulate(0)` before its types.
std::string to_text(const Graph& graph);

/// Errors: corrupt with the line's number; the result is verified.
Result<Graph> try_parse_graph(std::string_view text);

}  // namespace plimsoll::graph
