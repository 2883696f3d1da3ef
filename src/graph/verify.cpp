#include "graph/verify.h"

#include <algorithm>
#include <unordered_set>

namespace plimsoll::graph {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), is_made_(graph.values().size()), is_gone_(is_made_.size()), node_names_(graph.nodes().size()) {}

  Status run() {
    PLIMSOLL_RETURN_IF_ERROR(check_values());
    for (const Node& node : graph_.nodes()) PLIMSOLL_RETURN_IF_ERROR(check_node(node));
    return check_ends();
  }

 private:
  bool exists(ValueId id) const { return id.is_valid() && id.index() < graph_.values().size(); }

  Status check_values() {
    std::unordered_set<std::string_view> names(graph_.values().size());
    for (size_t i = 0; i < graph_.values().size(); ++i) {
      const Value& value = graph_.values()[i];
      if (!names.insert(value.name).second) return corrupt("[verify] two values are named '" + value.name + "'");
      if (!try_size_bytes(value.desc))
        return corrupt("[verify] value '" + value.name + "' has no valid size: " + plimsoll::to_string(value.desc));
      if (value.kind != ValueKind::kComputed) is_made_[i] = true;
      const int64_t elements = value.kind == ValueKind::kConstant ? value.desc.numel() : 0;
      if (static_cast<int64_t>(value.literal.size()) != elements)
        return corrupt("[verify] '" + value.name + "' has " + std::to_string(value.literal.size()) +
                       " literal elements; expected " + std::to_string(elements));
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
          &graph_.node(output.producer) != &node || output.name != output_name(node.name, output.output_index))
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
      if (std::ranges::count(node.inputs, accumulator) > 1)
        return corrupt("[verify] node '" + node.name + "' reads '" + graph_.value(accumulator).name +
                       "', into which it adds");
      const auto output = static_cast<size_t>(node.accumulated_outputs[i]);
      if (output >= node.outputs.size() || graph_.value(node.outputs[output]).desc != graph_.value(accumulator).desc)
        return corrupt("[verify] node '" + node.name + "' adds into '" + graph_.value(accumulator).name +
                       "' of another description");
      is_gone_[accumulator.index()] = true;
    }
    return {};
  }

  Status check_updates() {
    std::unordered_set<size_t> updated;
    for (const StateUpdate& update : graph_.updates()) {
      if (!exists(update.state) || !exists(update.next)) return corrupt("[verify] an update names no value");
      const Value& state = graph_.value(update.state);
      const auto fault = [&](const char* what) { return corrupt("[verify] update of '" + state.name + "'" + what); };
      if (state.kind != ValueKind::kParameter && state.kind != ValueKind::kState)
        return fault(", which is neither parameter nor state");
      if (graph_.value(update.next).desc != state.desc) return fault(" changes its description");
      if (!is_made_[update.next.index()] || is_gone_[update.next.index()])
        return fault(" takes a value that is not live");
      if (!updated.insert(update.state.index()).second) return fault(" occurs twice");
    }
    return {};
  }

  Status check_checks() {
    for (const FiniteCheck& check : graph_.checks()) {
      const auto fault = [&](const char* what) {
        return corrupt("[verify] the check of the " + check.what + " " + what);
      };
      if (!exists(check.value)) return fault("names no value");
      const Value& value = graph_.value(check.value);
      if (value.kind != ValueKind::kComputed || !is_made_[check.value.index()]) return fault("names no computed value");
      if (value.desc.dtype != DType::kF32 || value.desc.numel() != 1) return fault("is of no f32 scalar");
    }
    return {};
  }

  Status check_ends() {
    for (size_t i = 0; i < is_made_.size(); ++i)
      if (!is_made_[i]) return corrupt("[verify] value '" + graph_.values()[i].name + "' is made by no node");
    for (const Output& output : graph_.outputs()) {
      if (!exists(output.value) || !is_made_[output.value.index()] || is_gone_[output.value.index()])
        return corrupt("[verify] output '" + output.name + "' is no live value");
    }
    PLIMSOLL_RETURN_IF_ERROR(check_updates());
    return check_checks();
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
