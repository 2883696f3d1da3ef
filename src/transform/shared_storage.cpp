#include "transform/shared_storage.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using ops::Alias;

std::vector<Alias> aliases_of(const Graph& graph, const ops::OpTable& ops, const Node& node) {
  const ops::OpDef& def = ops.at(node.op);
  if (!def.aliases) return {};
  const ops::NodeCall call(graph, node);
  return def.aliases(call.call());
}

/// What `id` is a view of, or an invalid id.
ValueId viewed(const Graph& graph, const ops::OpTable& ops, ValueId id) {
  const graph::Value& value = graph.value(id);
  if (value.kind != graph::ValueKind::kComputed) return {};
  const Node& node = graph.node(value.producer);
  for (const Alias& alias : aliases_of(graph, ops, node))
    if (alias.dst == value.output_index && alias.kind == Alias::Kind::kView)
      return node.inputs[static_cast<size_t>(alias.src)];
  return {};
}

}  // namespace

ValueId view_root(const Graph& graph, const ops::OpTable& ops, ValueId id) {
  while (true) {
    const ValueId source = viewed(graph, ops, id);
    if (!source.is_valid()) return id;
    id = source;
  }
}

bool updates_in_place(const Graph& graph, const ops::OpTable& ops, const Node& node) {
  for (const Alias& alias : aliases_of(graph, ops, node))
    if (alias.kind == Alias::Kind::kUpdate) return true;
  return false;
}

std::vector<bool> find_overwritten(const Graph& graph, const ops::OpTable& ops) {
  std::vector<bool> is_root_written(graph.values().size());
  const auto mark = [&](ValueId id) { is_root_written[view_root(graph, ops, id).index()] = true; };
  for (const Node& node : graph.nodes()) {
    for (size_t i = node.operand_count(); i < node.inputs.size(); ++i) mark(node.inputs[i]);
    for (const Alias& alias : aliases_of(graph, ops, node))
      if (alias.kind == Alias::Kind::kUpdate) mark(node.inputs[static_cast<size_t>(alias.src)]);
  }
  std::vector<bool> out(graph.values().size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = is_root_written[view_root(graph, ops, {static_cast<int32_t>(i)}).index()];
  return out;
}

}  // namespace plimsoll::transform
