#include "transform/chain_part.h"

#include <algorithm>

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

/// The number of the source in the chain, added where it is new.
int number_of(ChainPart& part, ValueId src) {
  const auto it = std::ranges::find(part.srcs, src);
  if (it == part.srcs.end()) part.srcs.push_back(src);
  return static_cast<int>(std::ranges::find(part.srcs, src) - part.srcs.begin());
}

ChainPart one_step(const Node& node, ValueId value) {
  ChainPart out;
  ops::ChainStep step{.op = node.op, .srcs = {}, .attributes = node.attributes};
  for (ValueId input : node.inputs) step.srcs.push_back(input == value ? ops::kRunning : number_of(out, input));
  out.chain.steps.push_back(std::move(step));
  return out;
}

}  // namespace

std::optional<ChainPart> as_steps(const Graph& graph, const Node& node, ValueId value) {
  const TensorDesc& desc = graph.value(value).desc;
  if (!node.accumulated_outputs.empty() || desc.dtype != DType::kF32) return std::nullopt;
  if (std::ranges::count(node.inputs, value) != 1 || graph.value(node.outputs[0]).desc != desc) return std::nullopt;
  if (node.op == "elementwise_chain") {
    if (node.inputs[0] != value) return std::nullopt;
    return ChainPart{.chain = ops::chain_of(node.attributes),
                     .srcs = {node.inputs.begin() + 1, node.inputs.end()},
                     .kept = {node.outputs.begin() + 1, node.outputs.end()}};
  }
  if (ops::chain_ops().find(node.op) == nullptr) return std::nullopt;
  ChainPart out = one_step(node, value);
  std::vector<TensorDesc> srcs;
  for (ValueId src : out.srcs) srcs.push_back(graph.value(src).desc);
  return ops::check_chain(node.op, out.chain, desc, srcs).ok() ? std::optional(std::move(out)) : std::nullopt;
}

void append(ChainPart& part, const ChainPart& more) {
  for (ops::ChainStep step : more.chain.steps) {
    for (int& src : step.srcs)
      if (src != ops::kRunning) src = number_of(part, more.srcs[static_cast<size_t>(src)]);
    part.chain.steps.push_back(std::move(step));
  }
  part.kept.insert(part.kept.end(), more.kept.begin(), more.kept.end());
}

}  // namespace plimsoll::transform
