#include "ops/evaluate.h"

#include <cmath>

#include "core/philox.h"

namespace plimsoll::ops {

std::vector<Array> evaluate_node(const OpTable& ops, const graph::Graph& graph, const graph::Node& node,
                                 std::span<const Array> srcs) {
  std::vector<Array> dsts;
  for (graph::ValueId output : node.outputs) dsts.emplace_back(graph.value(output).desc);
  ops.at(node.op).evaluate(srcs.first(node.operand_count()), dsts, node.attributes);
  for (size_t i = 0; i < node.accumulated_outputs.size(); ++i) {
    Array& dst = dsts[static_cast<size_t>(node.accumulated_outputs[i])];
    const Array& accumulator = srcs[node.operand_count() + i];
    for (int64_t k = 0; k < dst.numel(); ++k) dst[k] += accumulator[k];
  }
  return dsts;
}

std::vector<Array> evaluate_graph(const OpTable& ops, const graph::Graph& graph, std::vector<Array> leaves) {
  leaves.resize(graph.values().size());
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const graph::Value& value = graph.values()[i];
    if (value.kind == graph::ValueKind::kConstant) leaves[i] = Array(value.desc, value.literal);
    if (value.kind != graph::ValueKind::kComputed) PLIMSOLL_CHECK(leaves[i].desc == value.desc, value.name);
  }
  for (const graph::Node& node : graph.nodes()) {
    std::vector<Array> srcs;
    for (graph::ValueId input : node.inputs) srcs.push_back(leaves[input.index()]);
    std::vector<Array> dsts = evaluate_node(ops, graph, node, srcs);
    for (size_t i = 0; i < dsts.size(); ++i) leaves[node.outputs[i].index()] = std::move(dsts[i]);
  }
  return leaves;
}

Array make_sample_array(const SampleSrc& src, uint64_t seed) {
  if (!src.values.empty()) return Array(src.desc, src.values);
  Array out(src.desc);
  const Philox random(seed);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double unit = to_unit_float(random(static_cast<uint64_t>(i), 0)[0]);
    const double x = src.low + (src.high - src.low) * unit;
    // Rounded to f32, so that a backend and the reference start from the same number.
    out[i] = src.is_integer ? std::floor(x) : static_cast<double>(static_cast<float>(x));
  }
  return out;
}

}  // namespace plimsoll::ops
