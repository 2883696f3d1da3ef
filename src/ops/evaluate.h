#pragma once

#include <vector>

#include "ops/op_table.h"

namespace plimsoll::ops {

/// Evaluates one node's op in f64, accumulators included, and rounds nothing.
///
/// `srcs` are all inputs of the node, accumulators last.
std::vector<Array> evaluate_node(const OpTable& ops, const graph::Graph& graph, const graph::Node& node,
                                 std::span<const Array> srcs);

/// Evaluates a whole graph in f64 from its leaves: the oracle of gradient tests and of the transforms' tests.
///
/// Requires: `leaves` holds an Array for every input, parameter, state and scalar, by id. Constants are filled in.
/// Returns: an Array for every value, by id. Memory: all values at once.
std::vector<Array> evaluate_graph(const OpTable& ops, const graph::Graph& graph, std::vector<Array> leaves);

/// Sample data, a function of (seed, element) alone.
Array make_sample_array(const SampleSrc& src, uint64_t seed);

}  // namespace plimsoll::ops
