#include "transform/fuse_elementwise.h"

#include "transform/chain_growth.h"
#include "transform/rebuild.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

class ElementwiseFuser {
 public:
  ElementwiseFuser(const Graph& graph, const ops::OpTable& ops)
      : graph_(graph), uses_(graph, ops), changes_(graph), is_taken_(graph.nodes().size()) {}

  Graph run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i)
      if (!is_taken_[i]) fuse_from(i);
    return rebuild(graph_, changes_);
  }

 private:
  /// Any input of the first node's shape can be the value that the chain runs on.
  void fuse_from(size_t first) {
    const Node& node = graph_.nodes()[first];
    for (ValueId x : node.inputs) {
      const std::optional<ChainPart> start = as_steps(graph_, node, x);
      if (!start) continue;
      ChainGrowth growth{.first = first, .absorbed = {first}, .part = *start, .value = node.outputs[0]};
      grow(growth, graph_, uses_, {&x, 1}, /*keeps=*/false);
      if (growth.absorbed.size() > 1) replace(growth, x);
      return;
    }
  }

  void replace(const ChainGrowth& growth, ValueId x) {
    const Node& last = graph_.nodes()[growth.last()];
    Node fused{.op = "elementwise_chain",
               .name = last.name,
               .phase = last.phase,
               .attributes = {{"chain", to_string(growth.part.chain)}},
               .inputs = {x},
               .outputs = {growth.value}};
    fused.inputs.insert(fused.inputs.end(), growth.part.srcs.begin(), growth.part.srcs.end());
    fused.outputs.insert(fused.outputs.end(), growth.part.kept.begin(), growth.part.kept.end());
    if (!names_are_free(graph_, fused.name, fused.outputs)) return;
    for (size_t i : growth.absorbed) is_taken_[i] = changes_.drops_node[i] = true;
    changes_.replacements[growth.last()] = std::move(fused);
  }

  const Graph& graph_;
  Uses uses_;
  Changes changes_;
  std::vector<bool> is_taken_;
};

}  // namespace

Graph fuse_elementwise(const Graph& graph, const ops::OpTable& ops) { return ElementwiseFuser(graph, ops).run(); }

}  // namespace plimsoll::transform
