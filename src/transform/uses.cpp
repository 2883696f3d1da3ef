#include "transform/uses.h"

#include <algorithm>

#include "transform/shared_storage.h"

namespace plimsoll::transform {

using graph::ValueId;

Uses::Uses(const graph::Graph& graph, const ops::OpTable& ops)
    : graph_(graph), readers_(graph.values().size()), is_end_(graph.values().size()), writers_(graph.values().size()) {
  for (size_t i = 0; i < graph.values().size(); ++i) roots_.push_back(view_root(graph, ops, {static_cast<int32_t>(i)}));
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    for (ValueId input : node.inputs) readers_[input.index()].push_back(i);
    const auto write = [&](ValueId id) { writers_[roots_[id.index()].index()].push_back(i); };
    for (size_t k = node.operand_count(); k < node.inputs.size(); ++k) write(node.inputs[k]);
    const ops::OpDef& def = ops.at(node.op);
    if (!def.aliases) continue;
    const ops::NodeCall call(graph, node);
    for (const ops::Alias& alias : def.aliases(call.call()))
      if (alias.kind == ops::Alias::Kind::kUpdate) write(node.inputs[static_cast<size_t>(alias.src)]);
  }
  for (const graph::Output& output : graph.outputs()) is_end_[output.value.index()] = true;
  for (const graph::FiniteCheck& check : graph.checks()) is_end_[check.value.index()] = true;
  for (const graph::StateUpdate& update : graph.updates())
    is_end_[update.state.index()] = is_end_[update.next.index()] = true;
}

std::optional<size_t> Uses::only_reader(ValueId id) const {
  const std::vector<size_t>& all = readers(id);
  return all.size() == 1 && !is_end(id) ? std::optional(all[0]) : std::nullopt;
}

bool Uses::may_read_later(ValueId id, size_t earlier, size_t later) const {
  const graph::Value& value = graph_.value(id);
  if (value.kind == graph::ValueKind::kComputed) earlier = std::max(earlier, value.producer.index() + 1);
  return std::ranges::none_of(writers_[roots_[id.index()].index()],
                              [&](size_t writer) { return earlier <= writer && writer < later; });
}

}  // namespace plimsoll::transform
