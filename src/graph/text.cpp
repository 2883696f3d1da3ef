#include "graph/text.h"

#include <algorithm>

namespace plimsoll::graph {
namespace {

std::string reference(ValueId id) { return "%" + std::to_string(id.value); }

template <class List, class Print>
std::string joined(const List& list, Print print) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + print(item);
  return out;
}

/// An op that has the name of a kind of leaf would read as one.
std::string printed_op(const std::string& op) {
  constexpr ValueKind kLeaves[] = {ValueKind::kInput, ValueKind::kParameter, ValueKind::kState, ValueKind::kScalar,
                                   ValueKind::kConstant};
  const bool is_leaf = std::ranges::any_of(kLeaves, [&](ValueKind kind) { return op == to_string(kind); });
  return is_word(op) && !is_leaf ? op : quote(op);
}

std::string to_line(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  std::string out = reference(id) + " = " + std::string(to_string(value.kind));
  if (value.is_trainable) out += " trainable";
  out += " " + quote(value.name);
  if (value.kind == ValueKind::kConstant)
    out += " [" + joined(value.literal, [](double x) { return plimsoll::to_string(Attribute(x)); }) + "]";
  return out + " : " + plimsoll::to_string(value.desc) + "\n";
}

std::string to_line(const Graph& graph, const Node& node) {
  std::string out = joined(node.outputs, reference) + " = " + printed_op(node.op) + " " + quote(node.name) + " " +
                    std::string(to_string(node.phase)) + " (" + joined(node.inputs, reference) + ")";
  if (!node.attributes.empty()) out += " " + plimsoll::to_string(node.attributes);
  if (!node.accumulated_outputs.empty())
    out += " accumulate(" + joined(node.accumulated_outputs, [](int i) { return std::to_string(i); }) + ")";
  return out + " : " + joined(node.outputs, [&](ValueId v) { return plimsoll::to_string(graph.value(v).desc); }) + "\n";
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string out = "graph " + quote(graph.name()) + "\n";
  for (size_t i = 0; i < graph.values().size(); ++i)
    if (graph.values()[i].kind != ValueKind::kComputed) out += to_line(graph, ValueId{static_cast<int32_t>(i)});
  for (const Node& node : graph.nodes()) out += to_line(graph, node);
  for (const Output& output : graph.outputs())
    out += "output " + quote(output.name) + " " + reference(output.value) + "\n";
  for (const StateUpdate& update : graph.updates())
    out += "update " + reference(update.state) + " <- " + reference(update.next) + "\n";
  for (const FiniteCheck& check : graph.checks())
    out += "check " + reference(check.value) + " " + quote(check.what) + "\n";
  return out;
}

}  // namespace plimsoll::graph
