#include "graph/graph.h"

#include <array>

namespace plimsoll::graph {

std::string output_name(const std::string& node, int index) {
  return index == 0 ? node : node + ":" + std::to_string(index);
}

Graph::Graph(std::string name, std::vector<Value> values, std::vector<Node> nodes)
    : name_(std::move(name)), values_(std::move(values)), nodes_(std::move(nodes)) {
  for (size_t i = 0; i < values_.size(); ++i)
    values_by_name_.emplace(values_[i].name, ValueId{static_cast<int32_t>(i)});
  for (const Node& node : nodes_) node_names_.insert(node.name);
}

ValueId Graph::add_leaf(ValueKind kind, std::string name, TensorDesc desc, bool is_trainable) {
  PLIMSOLL_CHECK(kind != ValueKind::kComputed && !values_by_name_.contains(name), name);
  const ValueId id{static_cast<int32_t>(values_.size())};
  values_by_name_.emplace(name, id);
  values_.push_back({.name = std::move(name), .desc = desc, .kind = kind, .is_trainable = is_trainable});
  return id;
}

ValueId Graph::add_constant(std::string name, TensorDesc desc, std::vector<double> literal) {
  PLIMSOLL_CHECK(static_cast<int64_t>(literal.size()) == desc.numel(), name);
  const ValueId id = add_leaf(ValueKind::kConstant, std::move(name), desc);
  values_[id.index()].literal = std::move(literal);
  return id;
}

NodeId Graph::add_node(Node node, std::span<const TensorDesc> output_descs) {
  PLIMSOLL_CHECK(node_names_.insert(node.name).second, "second node of name ", node.name);
  PLIMSOLL_CHECK(node.outputs.empty(), node.name);
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  nodes_.push_back(std::move(node));
  add_outputs(id, output_descs);
  return id;
}

std::vector<ValueId> Graph::add_outputs(NodeId id, std::span<const TensorDesc> output_descs) {
  std::vector<ValueId> added;
  for (const TensorDesc& desc : output_descs) {
    Node& producer = nodes_[id.index()];
    const int index = static_cast<int>(producer.outputs.size());
    const ValueId value{static_cast<int32_t>(values_.size())};
    std::string name = output_name(producer.name, index);
    PLIMSOLL_CHECK(values_by_name_.emplace(name, value).second, "second value of name ", name);
    values_.push_back({.name = std::move(name), .desc = desc, .producer = id, .output_index = index});
    producer.outputs.push_back(value);
    added.push_back(value);
  }
  return added;
}

ValueId Graph::find_value(std::string_view name) const {
  const auto it = values_by_name_.find(std::string(name));
  return it == values_by_name_.end() ? ValueId{} : it->second;
}

ValueId Graph::find_output(std::string_view name) const {
  for (const Output& output : outputs_)
    if (output.name == name) return output.value;
  return {};
}

std::string Graph::unique_node_name(const std::string& wanted, size_t outputs) const {
  const auto is_free = [&](const std::string& name) {
    bool out = !node_names_.contains(name) && !values_by_name_.contains(name);
    for (size_t i = 1; i < outputs; ++i) out = out && !values_by_name_.contains(output_name(name, static_cast<int>(i)));
    return out;
  };
  if (is_free(wanted)) return wanted;
  for (int i = 1;; ++i)
    if (std::string name = wanted + "." + std::to_string(i); is_free(name)) return name;
}

std::string_view to_string(ValueKind kind) {
  static constexpr std::array<std::string_view, 6> kNames{"input",  "parameter", "state",
                                                          "scalar", "constant",  "computed"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view to_string(Phase phase) {
  static constexpr std::array<std::string_view, 3> kNames{"forward", "backward", "update"};
  return kNames[static_cast<size_t>(phase)];
}

}  // namespace plimsoll::graph
