#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Who reads and who overwrites the values of a graph: what decides whether nodes may become one. Nodes are named by
/// their index.
class Uses {
 public:
  Uses(const graph::Graph& graph, const ops::OpTable& ops);

  /// The nodes that read it, accumulators included, in order; one that reads it twice stands there twice.
  const std::vector<size_t>& readers(graph::ValueId id) const { return readers_[id.index()]; }
  /// Whether an output, update or check names it.
  bool is_end(graph::ValueId id) const { return is_end_[id.index()]; }
  /// The node that alone reads it, once, where no end names it.
  std::optional<size_t> only_reader(graph::ValueId id) const;

  /// Whether node `later` still finds the value that node `earlier` reads, or that was made after it: that no node
  /// between adds into its storage or updates it.
  bool may_read_later(graph::ValueId id, size_t earlier, size_t later) const;

 private:
  const graph::Graph& graph_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_end_;
  std::vector<graph::ValueId> roots_;         ///< by value: whose storage it has
  std::vector<std::vector<size_t>> writers_;  ///< by value that is a root: nodes that write over it, in order
};

}  // namespace plimsoll::transform
