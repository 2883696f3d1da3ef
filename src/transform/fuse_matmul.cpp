#include "transform/fuse_matmul.h"

#include <algorithm>

#include "transform/fusion.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

bool is_f32(const Graph& graph, ValueId id) { return graph.value(id).desc.dtype == DType::kF32; }

void append_epilogue(Fusion& fusion, size_t at) {
  const Node& product = fusion.node(at);
  if (product.op != "matmul" || !product.accumulated_outputs.empty() || !is_f32(fusion.graph(), product.outputs[0]))
    return;
  ChainGrowth growth{.first = at, .absorbed = {}, .part = {}, .value = product.outputs[0]};
  fusion.grow(growth, product.inputs, /*keeps=*/true);
  if (growth.absorbed.empty()) return;
  Node fused = product;
  fused.op = "matmul_chain";
  fused.name = fusion.node(growth.last()).name;
  fused.attributes.set("chain", to_string(growth.part.chain));
  fused.inputs.insert(fused.inputs.end(), growth.part.srcs.begin(), growth.part.srcs.end());
  fused.outputs = {growth.value};
  fused.outputs.insert(fused.outputs.end(), growth.part.kept.begin(), growth.part.kept.end());
  std::vector<size_t> parts = growth.absorbed;
  parts.push_back(at);
  fusion.try_replace(growth.last(), parts, std::move(fused));
}

/// Whether the node sums its input over all axes but the last.
bool sums_rows(const Graph& graph, const Node& node) {
  if (node.op != "reduce_sum" || !node.accumulated_outputs.empty() || node.attributes.get_bool("keep_dims"))
    return false;
  const int rank = graph.value(node.inputs[0]).desc.shape.rank();
  std::vector<int64_t> axes = node.attributes.get_ints("axes");
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::ranges::sort(axes);
  if (rank < 2 || std::ssize(axes) != rank - 1) return false;
  for (int64_t axis = 0; axis < rank - 1; ++axis)
    if (axes[static_cast<size_t>(axis)] != axis) return false;
  return true;
}

/// What a value is a reshape of, through any number of them.
ValueId before_reshapes(const Graph& graph, ValueId id) {
  while (graph.value(id).kind == graph::ValueKind::kComputed && graph.node(graph.value(id).producer).op == "reshape")
    id = graph.node(graph.value(id).producer).inputs[0];
  return id;
}

bool has_rows_of(const Graph& graph, ValueId matrix, ValueId summed) {
  return before_reshapes(graph, matrix) == before_reshapes(graph, summed) &&
         graph.value(matrix).desc.shape.at(-1) == graph.value(summed).desc.shape.at(-1);
}

bool is_weight_gradient(const Graph& graph, const Node& node) {
  return node.op == "matmul" && node.inputs.size() == 2 + node.accumulated_outputs.size() &&
         node.attributes.get_bool("transpose_a") && !node.attributes.get_bool("transpose_b") &&
         graph.value(node.inputs[0]).desc.shape.rank() == 2 && graph.value(node.inputs[1]).desc.shape.rank() == 2 &&
         is_f32(graph, node.inputs[0]);
}

/// The first free node of the same phase behind `at` that sums the rows of its second operand.
std::optional<size_t> find_row_sum(const Fusion& fusion, size_t at) {
  const Graph& graph = fusion.graph();
  const ValueId d_y = before_reshapes(graph, fusion.node(at).inputs[1]);
  for (size_t reader : fusion.uses().readers(d_y)) {
    const Node& node = fusion.node(reader);
    if (reader > at && !fusion.is_taken(reader) && node.phase == fusion.node(at).phase && sums_rows(graph, node) &&
        has_rows_of(graph, fusion.node(at).inputs[1], node.inputs[0]))
      return reader;
  }
  return std::nullopt;
}

void join_bias_gradient(Fusion& fusion, size_t at) {
  const Node& product = fusion.node(at);
  if (!is_weight_gradient(fusion.graph(), product)) return;
  const std::optional<size_t> sum = find_row_sum(fusion, at);
  if (!sum) return;
  Node fused = product;
  fused.op = "matmul_bias_grad";
  fused.attributes = {};
  fused.outputs.push_back(fusion.node(*sum).outputs[0]);
  const size_t parts[] = {at, *sum};
  fusion.try_replace(at, parts, std::move(fused));
}

}  // namespace

Graph fuse_matmul_epilogue(const Graph& graph, const ops::OpTable& ops) {
  Fusion fusion(graph, ops);
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    if (!fusion.is_taken(i)) append_epilogue(fusion, i);
  return fusion.finish();
}

Graph fuse_bias_gradient(const Graph& graph, const ops::OpTable& ops) {
  Fusion fusion(graph, ops);
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    if (!fusion.is_taken(i)) join_bias_gradient(fusion, i);
  return fusion.finish();
}

}  // namespace plimsoll::transform
