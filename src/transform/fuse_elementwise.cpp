#include "transform/fuse_elementwise.h"

#include "transform/fusion.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

void replace(Fusion& fusion, const ChainGrowth& growth, ValueId x) {
  const Node& last = fusion.node(growth.last());
  Node fused{.op = "elementwise_chain",
             .name = last.name,
             .phase = last.phase,
             .attributes = {{"chain", to_string(growth.part.chain)}},
             .inputs = {x},
             .outputs = {growth.value}};
  fused.inputs.insert(fused.inputs.end(), growth.part.srcs.begin(), growth.part.srcs.end());
  fused.outputs.insert(fused.outputs.end(), growth.part.kept.begin(), growth.part.kept.end());
  fusion.try_replace(growth.last(), growth.absorbed, std::move(fused));
}

/// Any input of the first node's shape can be the value that the chain runs on.
void fuse_from(Fusion& fusion, size_t first) {
  const Node& node = fusion.node(first);
  for (ValueId x : node.inputs) {
    const std::optional<ChainPart> start = as_steps(fusion.graph(), node, x);
    if (!start) continue;
    ChainGrowth growth{.first = first, .absorbed = {first}, .part = *start, .value = node.outputs[0]};
    fusion.grow(growth, {&x, 1}, /*keeps=*/false);
    if (growth.absorbed.size() > 1) replace(fusion, growth, x);
    return;
  }
}

}  // namespace

Graph fuse_elementwise(const Graph& graph, const ops::OpTable& ops) {
  Fusion fusion(graph, ops);
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    if (!fusion.is_taken(i)) fuse_from(fusion, i);
  return fusion.finish();
}

}  // namespace plimsoll::transform
