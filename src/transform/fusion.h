#pragma once

#include <span>
#include <vector>

#include "transform/chain_part.h"
#include "transform/rebuild.h"
#include "transform/uses.h"

namespace plimsoll::transform {

/// A chain that grows along the readers of its value.
struct ChainGrowth {
  size_t first = 0;              ///< the node whose inputs would be read later …
  std::vector<size_t> absorbed;  ///< … up to the last of these nodes, which become part of it
  ChainPart part;
  graph::ValueId value;  ///< as it is after the last of them

  /// The node that takes the place of all.
  size_t last() const { return absorbed.empty() ? first : absorbed.back(); }
};

/// What passes that make one node of several share: who is read by whom, and which nodes are gone already.
class Fusion {
 public:
  Fusion(const graph::Graph& graph, const ops::OpTable& ops);

  const graph::Graph& graph() const { return graph_; }
  const graph::Node& node(size_t i) const { return graph_.nodes()[i]; }
  const Uses& uses() const { return uses_; }
  /// Whether a fused node has taken it.
  bool is_taken(size_t i) const { return is_taken_[i]; }

  /// Takes in the next reader of the value as long as it is elementwise, of the same phase and nobody's, and everything
  /// that was read before it can still be read there. A value that others need too is kept, where `keeps` says so and
  /// they come later. Not what another phase needs: what is made from it, such as a gelu, could then not be made again
  /// in the backward pass, which saves more memory than the one read saves time (docs/decisions/0008).
  ///
  /// `inputs`: what node `first` reads beside the chain.
  void grow(ChainGrowth& growth, std::span<const graph::ValueId> inputs, bool keeps) const;

  /// Puts `fused`, whose outputs are values of the graph, in the place of node `at`, and drops those of `parts`.
  /// Returns: false, and does nothing, where a name of its outputs belongs to another value.
  bool try_replace(size_t at, std::span<const size_t> parts, graph::Node fused);

  /// The graph with all replacements.
  graph::Graph finish() const { return rebuild(graph_, changes_); }

 private:
  /// Whether the value's own node becomes part of another.
  bool goes(graph::ValueId id, size_t at, std::span<const size_t> parts) const;
  std::optional<size_t> next_reader(const ChainGrowth& growth, bool keeps) const;

  const graph::Graph& graph_;
  Uses uses_;
  Changes changes_;
  std::vector<bool> is_taken_;
};

}  // namespace plimsoll::transform
