#pragma once

#include <optional>
#include <vector>

#include "ops/chain.h"
#include "transform/uses.h"

namespace plimsoll::transform {

/// Nodes as steps on a value: the chain, its further sources, and the values that it keeps, in order.
struct ChainPart {
  ops::Chain chain;
  std::vector<graph::ValueId> srcs;
  std::vector<graph::ValueId> kept;
};

/// The node as steps on `value`, one of its inputs; nothing where it is no elementwise op on f32, reads it twice, or has
/// another source that does not repeat along leading axes.
std::optional<ChainPart> as_steps(const graph::Graph& graph, const graph::Node& node, graph::ValueId value);

/// Appends the steps of `more`; a source that both read is one.
void append(ChainPart& part, const ChainPart& more);

/// A chain that grows along the readers of its value.
struct ChainGrowth {
  size_t first = 0;              ///< the node whose inputs would be read later …
  std::vector<size_t> absorbed;  ///< … up to the last of these nodes, which become part of it
  ChainPart part;
  graph::ValueId value;  ///< as it is after the last of them

  /// The node that takes the place of all.
  size_t last() const { return absorbed.empty() ? first : absorbed.back(); }
};

/// Takes in the next reader of the value as long as it is elementwise, of the same phase, and everything that was read
/// before it can still be read there. A value that others need too is kept, where `keeps` says so and they come later.
///
/// `inputs`: what node `first` reads beside the chain.
void grow(ChainGrowth& growth, const graph::Graph& graph, const Uses& uses, std::span<const graph::ValueId> inputs,
          bool keeps);

/// Whether a node named `name` could have these outputs: their names belong to nobody else.
bool names_are_free(const graph::Graph& graph, const std::string& name, std::span<const graph::ValueId> outputs);

}  // namespace plimsoll::transform
