#include "transform/fuse_attention_layout.h"

#include <algorithm>
#include <array>

#include "transform/fusion.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

constexpr size_t kParts = 3;  // q, k and v
using Parts = std::array<ValueId, kParts>;

/// One split's way through attention and back.
struct Layout {
  ValueId qkv;
  Parts heads;  ///< q, k and v as attention reads them
  size_t attention = 0;
  std::optional<size_t> attention_grad;
  ValueId d_qkv;                      ///< where there is a gradient
  std::vector<size_t> forward_parts;  ///< the nodes that go
  std::vector<size_t> backward_parts;
};

class LayoutFuser {
 public:
  LayoutFuser(const Graph& graph, const ops::OpTable& ops) : graph_(graph), fusion_(graph, ops) {}

  Graph run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i)
      if (const std::optional<Layout> layout = find_from(i)) replace(*layout);
    return fusion_.finish();
  }

 private:
  const Shape& shape(ValueId id) const { return graph_.value(id).desc.shape; }

  /// Whether the node cuts the last of three axes into three equal parts.
  bool is_split(const Node& node) const {
    if (node.op != "split" || node.outputs.size() != kParts || shape(node.inputs[0]).rank() != 3) return false;
    const int64_t axis = node.attributes.get_int("axis");
    return (axis == -1 || axis == 2) && shape(node.outputs[0]) == shape(node.outputs[1]) &&
           shape(node.outputs[1]) == shape(node.outputs[2]) && graph_.value(node.inputs[0]).desc.dtype == DType::kF32;
  }

  /// The values after the only readers of these, all reshapes; the readers go to `parts`.
  std::optional<Parts> through_reshapes(std::span<const ValueId> values, std::vector<size_t>& parts) const {
    Parts out;
    for (size_t i = 0; i < kParts; ++i) {
      const std::optional<size_t> reader = fusion_.uses().only_reader(values[i]);
      if (!reader || fusion_.node(*reader).op != "reshape") return std::nullopt;
      parts.push_back(*reader);
      out[i] = fusion_.node(*reader).outputs[0];
    }
    return out;
  }

  static bool reads(const Node& node, const Parts& heads) {
    return node.accumulated_outputs.empty() && std::equal(heads.begin(), heads.end(), node.inputs.begin());
  }

  std::optional<Layout> find_from(size_t split) const {
    const Node& node = fusion_.node(split);
    if (!is_split(node)) return std::nullopt;
    Layout out{.qkv = node.inputs[0], .heads = {}, .forward_parts = {split}, .backward_parts = {}};
    const std::optional<Parts> heads = through_reshapes(node.outputs, out.forward_parts);
    if (!heads || !find_readers(*heads, out)) return std::nullopt;
    out.heads = *heads;
    const size_t last = out.attention_grad.value_or(out.attention);
    return fusion_.uses().may_read_later(out.qkv, split, last) ? std::optional(out) : std::nullopt;
  }

  /// Attention alone, or with its gradient, reads all three as q, k and v, and nobody else does.
  bool find_readers(const Parts& heads, Layout& out) const {
    const std::vector<size_t> readers = fusion_.uses().readers(heads[0]);
    for (ValueId head : heads)
      if (fusion_.uses().readers(head) != readers || fusion_.uses().is_end(head)) return false;
    if (readers.empty() || readers.size() > 2) return false;
    out.attention = readers[0];
    const Node& attention = fusion_.node(out.attention);
    const Shape& q = shape(heads[0]);
    if (attention.op != "attention" || !reads(attention, heads) || q.rank() != 4 || q[1] != shape(out.qkv)[1])
      return false;
    if (readers.size() == 1) return true;
    out.attention_grad = readers[1];
    const Node& grad = fusion_.node(readers[1]);
    return grad.op == "attention_grad" && reads(grad, heads) && find_concat(grad, out);
  }

  /// The gradients of q, k and v only come together in one concat.
  bool find_concat(const Node& grad, Layout& out) const {
    const std::optional<Parts> rows = through_reshapes(grad.outputs, out.backward_parts);
    if (!rows) return false;
    const std::optional<size_t> concat = fusion_.uses().only_reader((*rows)[0]);
    if (!concat) return false;
    const Node& node = fusion_.node(*concat);
    if (node.op != "concat" || node.inputs.size() != kParts || !reads(node, *rows)) return false;
    for (ValueId row : *rows)
      if (!fusion_.uses().only_reader(row)) return false;
    out.d_qkv = node.outputs[0];
    out.backward_parts.push_back(*concat);
    return graph_.value(out.d_qkv).desc == graph_.value(out.qkv).desc && node.phase == grad.phase;
  }

  /// The node on the packed source, with these outputs.
  Node packed(size_t at, const Layout& layout, const char* op, std::vector<ValueId> outputs) const {
    Node out = fusion_.node(at);
    out.op = op;
    out.attributes.set("heads", shape(layout.heads[0])[2]);
    out.inputs.erase(out.inputs.begin(), out.inputs.begin() + kParts);
    out.inputs.insert(out.inputs.begin(), layout.qkv);
    out.outputs = std::move(outputs);
    return out;
  }

  void replace(const Layout& layout) {
    if (layout.attention_grad &&
        !fusion_.try_replace(*layout.attention_grad, layout.backward_parts,
                             packed(*layout.attention_grad, layout, "attention_packed_grad", {layout.d_qkv})))
      return;
    const std::vector<ValueId> outputs = fusion_.node(layout.attention).outputs;
    fusion_.try_replace(layout.attention, layout.forward_parts,
                        packed(layout.attention, layout, "attention_packed", outputs));
  }

  const Graph& graph_;
  Fusion fusion_;
};

}  // namespace

Graph fuse_attention_layout(const Graph& graph, const ops::OpTable& ops) { return LayoutFuser(graph, ops).run(); }

}  // namespace plimsoll::transform
