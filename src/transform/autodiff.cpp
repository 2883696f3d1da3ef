#include "transform/autodiff.h"

#include <algorithm>
#include <unordered_map>

#include "ops/gradient.h"
#include "transform/shared_storage.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

/// A gradient that one use of `value` yields.
struct Contribution {
  ValueId value;
  ValueId gradient;
};

/// The gradient that a value has so far.
struct Pending {
  ValueId gradient;
  ValueId root;  ///< the value whose storage it has
};

class Differentiator {
 public:
  Differentiator(ops::Builder& builder, ValueId loss, std::span<const ValueId> wanted)
      : builder_(builder), graph_(builder.target()), loss_(loss), wanted_(wanted.begin(), wanted.end()) {}

  Result<Gradients> run() {
    const auto forward_nodes = static_cast<int32_t>(graph_.nodes().size());
    mark_dependents();
    PLIMSOLL_RETURN_IF_ERROR(check_differentiable());
    builder_.set_phase(graph::Phase::kBackward);
    const TensorDesc desc = graph_.value(loss_).desc;
    one_ = builder_.constant("d_loss", desc, {1.0});
    set_pending(loss_, one_);
    for (int32_t i = forward_nodes - 1; i >= 0; --i) PLIMSOLL_RETURN_IF_ERROR(differentiate_node({i}));
    builder_.set_phase(graph::Phase::kForward);
    PLIMSOLL_RETURN_IF_ERROR(builder_.status());
    return collect();
  }

 private:
  bool depends(ValueId id) const { return id.index() < depends_.size() && depends_[id.index()]; }

  /// Marks the values that depend on a wanted one through floating values.
  void mark_dependents() {
    depends_.assign(graph_.values().size(), false);
    for (ValueId id : wanted_) depends_[id.index()] = true;
    for (const Node& node : graph_.nodes()) {
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return depends(v); });
      for (ValueId output : node.outputs)
        depends_[output.index()] = any && is_floating(graph_.value(output).desc.dtype);
    }
  }

  /// Lists all ops without a gradient between a wanted value and the loss, not only the first.
  Status check_differentiable() const {
    std::vector<bool> reaches(graph_.values().size());
    reaches[loss_.index()] = true;
    std::string missing;
    for (size_t i = graph_.nodes().size(); i-- > 0;) {
      const Node& node = graph_.nodes()[i];
      const bool is_on_path = std::any_of(node.outputs.begin(), node.outputs.end(),
                                          [&](ValueId v) { return reaches[v.index()] && depends(v); });
      if (!is_on_path) continue;
      if (!builder_.ops().at(node.op).gradient)
        missing += (missing.empty() ? "" : ", ") + node.op + " '" + node.name + "'";
      for (ValueId input : node.inputs) reaches[input.index()] = true;
    }
    if (missing.empty()) return {};
    return unsupported("[autodiff] no gradient for: " + missing + "; freeze what comes before, or use another op");
  }

  Status differentiate_node(NodeId id) {
    std::vector<ValueId> d_dsts;
    bool any = false;
    for (ValueId output : graph_.node(id).outputs) {
      const auto it = pending_.find(output);
      d_dsts.push_back(it == pending_.end() ? ValueId{} : it->second.gradient);
      any = any || it != pending_.end();
    }
    if (!any) return {};
    // The loss itself, or a term of a loss that is a plain sum.
    const bool is_root = d_dsts[0] == one_;
    const std::vector<ValueId> inputs = graph_.node(id).inputs;
    std::vector<bool> wants;
    for (ValueId input : inputs) wants.push_back(depends(input));
    if (std::find(wants.begin(), wants.end(), true) == wants.end()) return {};
    const size_t first_made = graph_.nodes().size();
    ops::GradientContext context(builder_, id, d_dsts, std::move(wants), is_root);
    builder_.ops().at(graph_.node(id).op).gradient(context);
    notes_.insert(notes_.end(), context.notes().begin(), context.notes().end());
    PLIMSOLL_RETURN_IF_ERROR(check_all_are_used(id, d_dsts, context, first_made));
    PLIMSOLL_RETURN_IF_ERROR(builder_.status());
    for (ValueId output : graph_.node(id).outputs) drop_pending(output);
    std::vector<Contribution> contributions;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId gradient = context.d_srcs()[i];
      if (!context.wants(i) || !gradient.is_valid()) continue;
      const TensorDesc &made = builder_.desc(gradient), &wanted = builder_.desc(inputs[i]);
      PLIMSOLL_CHECK(made.shape == wanted.shape && made.dtype == wanted.dtype, graph_.node(id).name, " input ", i);
      contributions.push_back({inputs[i], gradient});
    }
    for (size_t i = 0; i < contributions.size(); ++i) contribute(contributions, i, first_made);
    return builder_.status();
  }

  /// Some outputs, such as a norm's statistics, are left for the backward pass alone, and rules know no way through
  /// them: a gradient that a rule of several outputs did not use would be lost without a word.
  Status check_all_are_used(NodeId id, std::span<const ValueId> d_dsts, const ops::GradientContext& context,
                            size_t first_made) const {
    const Node& node = graph_.node(id);
    if (d_dsts.size() == 1) return {};
    for (size_t i = 0; i < d_dsts.size(); ++i) {
      const ValueId d_dst = d_dsts[i];
      if (!d_dst.is_valid() || d_dst == one_) continue;
      const auto reads = [&](const Node& made) { return std::ranges::count(made.inputs, d_dst) > 0; };
      const bool is_used =
          std::any_of(graph_.nodes().begin() + static_cast<std::ptrdiff_t>(first_made), graph_.nodes().end(), reads) ||
          std::ranges::count(context.d_srcs(), d_dst) > 0;
      if (!is_used)
        return unsupported("[autodiff] no gradient flows through output " + std::to_string(i) + " of " + node.op +
                           " '" + node.name + "'; keep it out of the loss");
    }
    return {};
  }

  void set_pending(ValueId value, ValueId gradient) {
    drop_pending(value);
    const ValueId root = storage_root(gradient);
    pending_[value] = {gradient, root};
    ++pending_in_[root];
  }

  void drop_pending(ValueId value) {
    const auto it = pending_.find(value);
    if (it == pending_.end()) return;
    --pending_in_[it->second.root];
    pending_.erase(it);
  }

  /// Adds what rule-made contribution `index` says to what its value has so far. Nodes from `first_made` on belong to
  /// the rule that is being applied.
  void contribute(std::span<const Contribution> rule, size_t index, size_t first_made) {
    const auto [value, gradient] = rule[index];
    const auto it = pending_.find(value);
    if (it == pending_.end()) {
      set_pending(value, gradient);
      return;
    }
    const ValueId before = it->second.gradient;
    if (can_accumulate(rule, index, before, first_made)) {
      const graph::Value& made = graph_.value(gradient);
      Node& producer = graph_.node(made.producer);
      producer.accumulated_outputs.push_back(made.output_index);
      producer.inputs.push_back(before);
      set_pending(value, gradient);
    } else {
      set_pending(value, builder_.add("add", {before, gradient}, {}, {.name = graph_.value(value).name + ".grad.sum"}));
    }
  }

  ValueId storage_root(ValueId id) const { return view_root(graph_, builder_.ops(), id); }

  /// Whether the node that made the contribution may add it into the storage of `before` instead.
  bool can_accumulate(std::span<const Contribution> rule, size_t index, ValueId before, size_t first_made) const {
    const ValueId gradient = rule[index].gradient;
    const graph::Value& made = graph_.value(gradient);
    const ValueId root = storage_root(before);
    if (made.kind != graph::ValueKind::kComputed || graph_.value(root).kind != graph::ValueKind::kComputed)
      return false;
    const Node& producer = graph_.node(made.producer);
    const std::vector<int>& able = builder_.ops().at(producer.op).accumulating_dsts;
    const std::vector<int>& used = producer.accumulated_outputs;
    if (made.producer.index() < first_made || std::count(able.begin(), able.end(), made.output_index) == 0 ||
        std::count(used.begin(), used.end(), made.output_index) > 0)
      return false;
    if (graph_.value(before).desc != made.desc) return false;
    // Nobody else may read either of them later: he would see the sum.
    if (pending_in_.at(root) > 1) return false;
    for (size_t i = 0; i < rule.size(); ++i) {
      if (i == index) continue;
      const ValueId other = storage_root(rule[i].gradient);
      if (other == root || other == storage_root(gradient)) return false;
    }
    for (auto i = made.producer.index(); i < graph_.nodes().size(); ++i)
      for (ValueId input : graph_.nodes()[i].inputs)
        if (input == gradient || storage_root(input) == root) return false;
    return true;
  }

  Gradients collect() const {
    Gradients out{.entries = {}, .unreached = {}, .notes = notes_};
    for (ValueId id : wanted_) {
      const auto it = pending_.find(id);
      if (it == pending_.end())
        out.unreached.push_back(id);
      else
        out.entries.push_back({id, it->second.gradient});
    }
    return out;
  }

  ops::Builder& builder_;
  Graph& graph_;
  ValueId loss_;
  ValueId one_;  ///< d loss / d loss
  std::vector<ValueId> wanted_;
  std::vector<bool> depends_;
  std::vector<std::string> notes_;
  std::unordered_map<ValueId, Pending> pending_;  ///< by value whose producer has not been reached yet
  std::unordered_map<ValueId, int> pending_in_;   ///< by storage root: how many pending gradients are in it
};

}  // namespace

Result<Gradients> differentiate(ops::Builder& builder, ValueId loss, std::span<const ValueId> wanted) {
  PLIMSOLL_RETURN_IF_ERROR(builder.status());
  const TensorDesc& desc = builder.desc(loss);
  if (!is_floating(desc.dtype) || desc.numel() != 1)
    return invalid_argument("[autodiff] the loss is " + to_string(desc) + "; expected a floating scalar");
  for (const ValueId id : wanted)
    if (builder.target().value(id).kind == graph::ValueKind::kComputed)
      return invalid_argument("[autodiff] '" + builder.target().value(id).name +
                              "' is computed; gradients are those of parameters and inputs");
  return Differentiator(builder, loss, wanted).run();
}

std::vector<ValueId> trainable_parameters(const Graph& graph) {
  std::vector<ValueId> out;
  for (size_t i = 0; i < graph.values().size(); ++i)
    if (graph.values()[i].is_trainable) out.push_back({static_cast<int32_t>(i)});
  return out;
}

}  // namespace plimsoll::transform
