#include "transform/dead_code.h"

#include <algorithm>

#include "transform/rebuild.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;

/// By value: whether an output, update or check depends on it.
std::vector<bool> find_live(const Graph& graph) {
  std::vector<bool> is_live(graph.values().size());
  for (const graph::Output& output : graph.outputs()) is_live[output.value.index()] = true;
  for (const graph::StateUpdate& update : graph.updates())
    is_live[update.state.index()] = is_live[update.next.index()] = true;
  for (const graph::FiniteCheck& check : graph.checks()) is_live[check.value.index()] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return is_live[v.index()]; }))
      for (ValueId input : node.inputs) is_live[input.index()] = true;
  }
  return is_live;
}

bool is_interface(ValueKind kind) {
  return kind == ValueKind::kInput || kind == ValueKind::kParameter || kind == ValueKind::kState;
}

}  // namespace

Graph eliminate_dead_code(const Graph& graph, bool keeps_interface) {
  const std::vector<bool> is_live = find_live(graph);
  Changes changes(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::vector<ValueId>& outputs = graph.nodes()[i].outputs;
    changes.drops_node[i] = std::none_of(outputs.begin(), outputs.end(), [&](ValueId v) { return is_live[v.index()]; });
  }
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const ValueKind kind = graph.values()[i].kind;
    changes.drops_leaf[i] = !is_live[i] && kind != ValueKind::kComputed && !(keeps_interface && is_interface(kind));
  }
  return rebuild(graph, changes);
}

}  // namespace plimsoll::transform
