#include "graph/verify.h"

#include <unordered_set>

namespace plimsoll::graph {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), is_made_(graph.values().size()), is_gone_(is_made_.size()) {}

  Status run() {
    PLIMSOLL_RETURN_IF_ERROR(check_values());
    for (const Node& node : graph_.nodes()) PLIMSOLL_RETURN_IF_ERROR(check_node(node));
    return check_ends();
  }

 private:
  bool exists(ValueId id) const { return id.is_valid() && id.index() < graph_.values().size(); }

  Status check_values() {
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const Value& value = graph_.values()[i];
      if (!names.insert(value.name).second) return corrupt("[verify] two values are named '" + value.name + "'");
      const auto numel = value.desc.shape.try_numel();
      if (!numel || !checked_multiply(*numel, size_bytes(value.desc.dtype)))
        return corrupt("[verify] value '" + value.name +
                       "' has no valid size: " + plimsoll::to_string(value.desc.shape));
      if (value.kind != ValueKind::kComputed) is_made_[i] = true;
      if (value.kind == ValueKind::kConstant && static_cast<int64_t>(value.literal.size()) != *numel)
        return corrupt("[verify] constant '" + value.name + "' lacks elements");
      if (value.is_trainable && value.kind != ValueKind::kParameter)
        return corrupt("[verify] '" + value.name + "' is trainable but no parameter");
    }
    return {};
  }

  Status check_node(const Node& node) {
    const auto fault = [&](const std::string& what) { return corrupt("[verify] node '" + node.name + "' " + what); };
    if (!node_names_.insert(node.name).second) return fault("has the name of another node");
    if (node.phase == Phase::kUpdate) {
      is_updating_ = true;
    } else if (is_updating_) {
      return fault("belongs to a microbatch but comes after the update began");
    }
    for (ValueId input : node.inputs) {
      if (!exists(input)) return fault("has an input that does not exist");
      if (!is_made_[input.index()]) return fault("reads '" + graph_.value(input).name + "' before it is made");
      if (is_gone_[input.index()]) return fault("reads '" + graph_.value(input).name + "' after it was added into");
    }
    PLIMSOLL_RETURN_IF_ERROR(check_accumulators(node));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!exists(node.outputs[i])) return fault("has an output that does not exist");
      const Value& output = graph_.value(node.outputs[i]);
      if (output.output_index != static_cast<int>(i) || !output.producer.is_valid() ||
          &graph_.node(output.producer) != &node)
        return fault("does not own its output '" + output.name + "'");
      is_made_[node.outputs[i].index()] = true;
    }
    return {};
  }

  Status check_accumulators(const Node& node) {
    if (node.accumulated_outputs.size() > node.inputs.size())
      return corrupt("[verify] node '" + node.name + "' lacks accumulators");
    for (size_t i = 0; i < node.accumulated_outputs.size(); ++i) {
      const ValueId accumulator = node.inputs[node.operand_count() + i];
      const auto output = static_cast<size_t>(node.accumulated_outputs[i]);
      if (output >= node.outputs.size() || graph_.value(node.outputs[output]).desc != graph_.value(accumulator).desc)
        return corrupt("[verify] node '" + node.name + "' adds into '" + graph_.value(accumulator).name +
                       "' of another description");
      is_gone_[accumulator.index()] = true;
    }
    return {};
  }

  Status check_ends() {
    for (const Output& output : graph_.outputs()) {
      if (!exists(output.value) || !is_made_[output.value.index()] || is_gone_[output.value.index()])
        return corrupt("[verify] output '" + output.name + "' is no live value");
    }
    for (const StateUpdate& update : graph_.updates()) {
      if (!exists(update.state) || !exists(update.next)) return corrupt("[verify] an update names no value");
      const Value& state = graph_.value(update.state);
      if (state.kind != ValueKind::kParameter && state.kind != ValueKind::kState)
        return corrupt("[verify] update of '" + state.name + "', which is neither parameter nor state");
      if (graph_.value(update.next).desc != state.desc)
        return corrupt("[verify] update of '" + state.name + "' changes its description");
    }
    for (const FiniteCheck& check : graph_.checks())
      if (!exists(check.value)) return corrupt("[verify] the check of the " + check.what + " names no value");
    return {};
  }

  const Graph& graph_;
  std::vector<bool> is_made_;
  std::vector<bool> is_gone_;
  std::unordered_set<std::string_view> node_names_;
  bool is_updating_ = false;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace plimsoll::graph
