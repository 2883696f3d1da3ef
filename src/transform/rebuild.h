#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace plimsoll::transform {

/// What a copy of a graph leaves out and replaces. Ids are those of the graph that is copied.
struct Changes {
  std::vector<bool> drops_node;            ///< by node: it and its outputs are left out
  std::vector<bool> drops_leaf;            ///< by value; says nothing about computed values
  std::vector<graph::ValueId> substitute;  ///< by value: what stands in its place wherever it is read; itself at first
  std::map<graph::ValueId, std::vector<double>> literals;  ///< outputs of dropped nodes that become constants
  /// By index of a node: what stands in its place. Its outputs are the values that it makes, first those of the node
  /// whose name it has; they may be those of dropped nodes, whose names then go.
  std::map<size_t, graph::Node> replacements;

  explicit Changes(const graph::Graph& graph);
};

/// A copy of `graph` with `changes` applied. Names, the order of nodes, phases, accumulators, outputs, updates and
/// checks stay; ids become dense again, so callers find their values by name.
///
/// Requires: nobody reads what is dropped, and everybody after what makes it in its stead; a substitute is made before
/// the value that it replaces, is itself kept, and has the same description.
/// Cost: O(values + uses).
graph::Graph rebuild(const graph::Graph& graph, const Changes& changes);

}  // namespace plimsoll::transform
