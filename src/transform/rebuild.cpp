#include "transform/rebuild.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueId;
using graph::ValueKind;

class Rebuilder {
 public:
  Rebuilder(const Graph& from, const Changes& changes)
      : from_(from), changes_(changes), to_(from.name()), copies_(from.values().size()) {}

  Graph run() {
    for (size_t i = 0; i < from_.nodes().size(); ++i) {
      const Node& node = from_.nodes()[i];
      if (!node.outputs.empty()) copy_leaves_before(node.outputs.front().index());
      const auto replacement = changes_.replacements.find(i);
      if (replacement != changes_.replacements.end())
        copy_node(replacement->second);
      else if (!changes_.drops_node[i])
        copy_node(node);
      else
        add_literals(node);
    }
    copy_leaves_before(from_.values().size());
    for (const graph::Output& output : from_.outputs()) to_.add_output(output.name, copy_of(output.value));
    for (const graph::StateUpdate& update : from_.updates())
      to_.add_update(copy_of(update.state), copy_of(update.next));
    for (const graph::FiniteCheck& check : from_.checks()) to_.add_check(copy_of(check.value), check.what);
    return std::move(to_);
  }

 private:
  /// Leaves keep their place among the nodes, so that the text of an unchanged graph is unchanged.
  void copy_leaves_before(size_t end) {
    for (; next_leaf_ < end; ++next_leaf_) copy_leaf({static_cast<int32_t>(next_leaf_)});
  }

  void copy_leaf(ValueId id) {
    const Value& value = from_.value(id);
    if (value.kind == ValueKind::kComputed || changes_.drops_leaf[id.index()] || copies_[id.index()].is_valid()) return;
    copies_[id.index()] = value.kind == ValueKind::kConstant
                              ? to_.add_constant(value.name, value.desc, value.literal)
                              : to_.add_leaf(value.kind, value.name, value.desc, value.is_trainable);
  }

  void copy_node(const Node& node) {
    Node copy = node;
    copy.outputs.clear();
    for (ValueId& input : copy.inputs) input = copy_of(input);
    std::vector<TensorDesc> descs;
    for (ValueId output : node.outputs) descs.push_back(from_.value(output).desc);
    const graph::NodeId id = to_.add_node(std::move(copy), descs);
    for (size_t i = 0; i < node.outputs.size(); ++i) copies_[node.outputs[i].index()] = to_.node(id).outputs[i];
  }

  void add_literals(const Node& node) {
    for (ValueId output : node.outputs) {
      const auto it = changes_.literals.find(output);
      if (it == changes_.literals.end()) continue;
      const Value& value = from_.value(output);
      copies_[output.index()] = to_.add_constant(value.name, value.desc, it->second);
    }
  }

  ValueId copy_of(ValueId id) {
    const ValueId source = changes_.substitute[id.index()];
    copy_leaf(source);  // a leaf may stand behind its reader in the list of values
    PLIMSOLL_CHECK(copies_[source.index()].is_valid(), "'", from_.value(id).name, "' is read but dropped");
    return copies_[source.index()];
  }

  const Graph& from_;
  const Changes& changes_;
  Graph to_;
  std::vector<ValueId> copies_;  ///< by value of `from_`
  size_t next_leaf_ = 0;
};

}  // namespace

Changes::Changes(const Graph& graph)
    : drops_node(graph.nodes().size()), drops_leaf(graph.values().size()), substitute(graph.values().size()) {
  for (size_t i = 0; i < substitute.size(); ++i) substitute[i] = {static_cast<int32_t>(i)};
}

Graph rebuild(const Graph& graph, const Changes& changes) { return Rebuilder(graph, changes).run(); }

}  // namespace plimsoll::transform
