#include "transform/common_subexpressions.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "transform/rebuild.h"
#include "transform/shared_storage.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;

class Merger {
 public:
  Merger(const Graph& graph, const ops::OpTable& ops)
      : graph_(graph), ops_(ops), is_overwritten_(find_overwritten(graph, ops)), changes_(graph) {
    for (const graph::StateUpdate& update : graph.updates()) is_overwritten_[update.next.index()] = true;
  }

  Graph run() {
    for (size_t i = 0; i < graph_.values().size(); ++i) merge_constant({static_cast<int32_t>(i)});
    for (size_t i = 0; i < graph_.nodes().size(); ++i) merge_node(i);
    return rebuild(graph_, changes_);
  }

 private:
  void merge_constant(ValueId id) {
    const graph::Value& value = graph_.value(id);
    if (value.kind != ValueKind::kConstant || is_overwritten_[id.index()]) return;
    std::string key = to_string(value.desc);
    // The text form of a number is exact, and tells -0 from 0.
    for (double number : value.literal) key += " " + plimsoll::to_string(Attribute(number));
    const auto [first, is_first] = constants_.emplace(std::move(key), id);
    if (is_first) return;
    changes_.substitute[id.index()] = first->second;
    changes_.drops_leaf[id.index()] = true;
  }

  void merge_node(size_t index) {
    const Node& node = graph_.nodes()[index];
    if (!may_merge(node)) return;
    const auto [first, is_first] = nodes_.emplace(key_of(node), index);
    if (is_first) return;
    const std::vector<ValueId>& same = graph_.nodes()[first->second].outputs;
    for (size_t i = 0; i < same.size(); ++i) changes_.substitute[node.outputs[i].index()] = same[i];
    changes_.drops_node[index] = true;
  }

  bool may_merge(const Node& node) const {
    return !node.inputs.empty() && node.accumulated_outputs.empty() && !updates_in_place(graph_, ops_, node) &&
           std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId v) { return is_overwritten_[v.index()]; });
  }

  std::string key_of(const Node& node) const {
    std::string key = node.op + plimsoll::to_string(node.attributes) + std::string(to_string(node.phase));
    for (ValueId input : node.inputs) key += " " + std::to_string(changes_.substitute[input.index()].value);
    for (ValueId output : node.outputs) key += " " + plimsoll::to_string(graph_.value(output).desc);
    return key;
  }

  const Graph& graph_;
  const ops::OpTable& ops_;
  std::vector<bool> is_overwritten_;
  Changes changes_;
  std::unordered_map<std::string, ValueId> constants_;  ///< the first of each kind
  std::unordered_map<std::string, size_t> nodes_;
};

}  // namespace

Graph eliminate_common_subexpressions(const Graph& graph, const ops::OpTable& ops) { return Merger(graph, ops).run(); }

}  // namespace plimsoll::transform
