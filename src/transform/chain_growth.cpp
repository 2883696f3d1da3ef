#include "transform/chain_growth.h"

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

bool may_read_all(const Uses& uses, std::span<const ValueId> ids, size_t earlier, size_t later) {
  return std::ranges::all_of(ids, [&](ValueId id) { return uses.may_read_later(id, earlier, later); });
}

/// Whether a node up to `next` reads what the chain keeps, which is made only with the end of the chain.
bool needs_kept(const ChainGrowth& growth, const Uses& uses, size_t next) {
  return std::ranges::any_of(growth.part.kept, [&](ValueId kept) {
    return std::ranges::any_of(uses.readers(kept), [&](size_t reader) {
      return reader <= next && std::ranges::count(growth.absorbed, reader) == 0;
    });
  });
}

/// The node that reads the value next, where it may become a step.
std::optional<size_t> next_reader(const ChainGrowth& growth, const Graph& graph, const Uses& uses, bool keeps) {
  const std::vector<size_t>& readers = uses.readers(growth.value);
  if (readers.empty() || (!keeps && !uses.only_reader(growth.value))) return std::nullopt;
  const size_t next = readers.front();
  return graph.nodes()[next].phase == graph.nodes()[growth.first].phase ? std::optional(next) : std::nullopt;
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

void grow(ChainGrowth& growth, const Graph& graph, const Uses& uses, std::span<const ValueId> inputs, bool keeps) {
  while (const std::optional<size_t> next = next_reader(growth, graph, uses, keeps)) {
    const Node& node = graph.nodes()[*next];
    const std::optional<ChainPart> step = as_steps(graph, node, growth.value);
    if (!step || !may_read_all(uses, inputs, growth.first, *next) ||
        !may_read_all(uses, growth.part.srcs, growth.first, *next) || needs_kept(growth, uses, *next))
      return;
    if (!uses.only_reader(growth.value)) {
      growth.part.chain.steps.push_back({.op = std::string(ops::kKeep), .srcs = {}});
      growth.part.kept.push_back(growth.value);
    }
    append(growth.part, *step);
    growth.absorbed.push_back(*next);
    growth.value = node.outputs[0];
  }
}

bool names_are_free(const Graph& graph, const std::string& name, std::span<const ValueId> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId known = graph.find_value(graph::output_name(name, static_cast<int>(i)));
    if (known.is_valid() && std::ranges::count(outputs, known) == 0) return false;
  }
  return true;
}

}  // namespace plimsoll::transform
