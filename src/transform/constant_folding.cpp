#include "transform/constant_folding.h"

#include <algorithm>
#include <cmath>

#include "ops/evaluate.h"
#include "transform/rebuild.h"
#include "transform/shared_storage.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;
using ops::Array;

bool can_be_constant(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kI32 || dtype == DType::kI64 ||
         dtype == DType::kBool;
}

/// Literals are f64, as Arrays are.
bool is_held_exactly(const Array& array) {
  return is_floating(array.desc.dtype) ||
         std::all_of(array.data.begin(), array.data.end(), [](double x) { return std::abs(x) <= 0x1p53; });
}

class Folder {
 public:
  Folder(const Graph& graph, const ops::OpTable& ops, int64_t max_elements)
      : graph_(graph),
        ops_(ops),
        max_elements_(max_elements),
        must_stay_(find_overwritten(graph, ops)),
        changes_(graph) {
    for (const graph::Output& output : graph.outputs()) must_stay_[output.value.index()] = true;
    for (const graph::StateUpdate& update : graph.updates()) must_stay_[update.next.index()] = true;
    for (const graph::FiniteCheck& check : graph.checks()) must_stay_[check.value.index()] = true;
  }

  Graph run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) fold(i);
    return rebuild(graph_, changes_);
  }

 private:
  void fold(size_t index) {
    const Node& node = graph_.nodes()[index];
    if (!can_evaluate(node)) return;
    std::vector<Array> srcs;
    for (ValueId input : node.inputs) srcs.push_back(array_of(input));
    std::vector<Array> dsts = ops::evaluate_node(ops_, graph_, node, srcs);
    changes_.drops_node[index] = can_replace(node) && std::all_of(dsts.begin(), dsts.end(), is_held_exactly);
    for (size_t i = 0; i < dsts.size(); ++i) {
      if (changes_.drops_node[index]) changes_.literals[node.outputs[i]] = dsts[i].data;
      known_.emplace(node.outputs[i], std::move(dsts[i]));
    }
  }

  bool can_evaluate(const Node& node) const {
    if (!node.accumulated_outputs.empty() || updates_in_place(graph_, ops_, node)) return false;
    for (ValueId output : node.outputs)
      if (graph_.value(output).desc.numel() > max_elements_) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId v) { return graph_.value(v).kind == ValueKind::kConstant || known_.contains(v); });
  }

  bool can_replace(const Node& node) const {
    return !node.inputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
      return !must_stay_[v.index()] && can_be_constant(graph_.value(v).desc.dtype);
    });
  }

  Array array_of(ValueId id) const {
    const auto it = known_.find(id);
    return it != known_.end() ? it->second : Array(graph_.value(id).desc, graph_.value(id).literal);
  }

  const Graph& graph_;
  const ops::OpTable& ops_;
  int64_t max_elements_;
  std::vector<bool> must_stay_;
  std::map<ValueId, Array> known_;  ///< computed values
  Changes changes_;
};

}  // namespace

Graph fold_constants(const Graph& graph, const ops::OpTable& ops, int64_t max_elements) {
  return Folder(graph, ops, max_elements).run();
}

}  // namespace plimsoll::transform
