#include "ops/op_table.h"

#include <algorithm>

#include "core/suggest.h"

namespace plimsoll::ops {
namespace {

Error unknown_attribute(const OpDef& def, const std::string& name) {
  std::vector<std::string> names;
  std::string known;
  for (const AttributeDef& attribute : def.attributes) {
    names.push_back(attribute.name);
    known += (known.empty() ? "" : ", ") + attribute.name;
  }
  return invalid_argument("[" + def.name + "] has no attribute " + name +
                          "; it has: " + (known.empty() ? "none" : known) + suggest(name, names));
}

Status check_attribute(const OpDef& def, const AttributeDef& rule, const Attribute& value) {
  const Attribute& example = rule.default_value ? *rule.default_value : rule.example;
  if (value.index() != example.index())
    return invalid_argument("[" + def.name + "] attribute " + rule.name + " is " + to_string(value) +
                            "; expected something like " + to_string(example));
  if (rule.allowed.empty()) return {};
  const auto& text = std::get<std::string>(value);
  if (std::find(rule.allowed.begin(), rule.allowed.end(), text) != rule.allowed.end()) return {};
  std::string allowed;
  for (const std::string& one : rule.allowed) allowed += (allowed.empty() ? "" : ", ") + one;
  return invalid_argument("[" + def.name + "] attribute " + rule.name + " is \"" + text + "\"; expected one of " +
                          allowed + suggest(text, rule.allowed));
}

/// That the bytes of `desc` can be counted at all, so that no rule needs to think of overflow.
Status check_size(const OpDef& def, const std::string& which, const TensorDesc& desc) {
  const auto numel = desc.shape.try_numel();
  if (numel && checked_multiply(*numel, size_bytes(desc.dtype))) return {};
  return invalid_argument("[" + def.name + "] " + which + " is " + to_string(desc) +
                          "; expected extents whose bytes fit in 64 bits");
}

}  // namespace

void OpTable::add(OpDef def) {
  std::string name = def.name;
  PLIMSOLL_CHECK(def.infer && def.evaluate && def.samples, name);
  PLIMSOLL_CHECK(defs_.emplace(std::move(name), std::move(def)).second, "op defined twice");
}

const OpDef* OpTable::find(std::string_view name) const {
  const auto it = defs_.find(name);
  return it == defs_.end() ? nullptr : &it->second;
}

const OpDef& OpTable::at(std::string_view name) const {
  const OpDef* def = find(name);
  PLIMSOLL_CHECK(def != nullptr, "no op ", name);
  return *def;
}

Result<Attributes> OpTable::complete(const OpDef& def, const Attributes& given) const {
  Attributes out;
  for (const AttributeDef& rule : def.attributes) {
    const Attribute* value = given.find(rule.name);
    if (value == nullptr && !rule.default_value)
      return invalid_argument("[" + def.name + "] attribute " + rule.name + " is missing");
    if (value != nullptr) PLIMSOLL_RETURN_IF_ERROR(check_attribute(def, rule, *value));
    out.set(rule.name, value != nullptr ? *value : *rule.default_value);
  }
  for (const auto& [name, value] : given)
    if (!out.has(name)) return unknown_attribute(def, name);
  return out;
}

Result<std::vector<TensorDesc>> OpTable::infer(const OpDef& def, std::span<const TensorDesc> srcs,
                                               const Attributes& complete_attributes) const {
  const size_t least = def.srcs.size() - def.optional_srcs;
  if (srcs.size() < least || (srcs.size() > def.srcs.size() && !def.is_variadic))
    return invalid_argument("[" + def.name + "] takes " + std::to_string(least) +
                            (def.is_variadic         ? " or more"
                             : def.optional_srcs > 0 ? " to " + std::to_string(def.srcs.size())
                                                     : "") +
                            " inputs, given " + std::to_string(srcs.size()));
  for (const TensorDesc& src : srcs) PLIMSOLL_RETURN_IF_ERROR(check_size(def, "an input", src));
  PLIMSOLL_ASSIGN(auto dsts, def.infer({srcs, {}, complete_attributes}));
  for (const TensorDesc& dst : dsts) PLIMSOLL_RETURN_IF_ERROR(check_size(def, "an output", dst));
  return dsts;
}

void define_all(OpTable& table);  // generated from the file names

OpTable make_op_table() {
  OpTable table;
  define_all(table);
  return table;
}

NodeCall::NodeCall(const graph::Graph& graph, const graph::Node& node) : attributes_(node.attributes) {
  for (size_t i = 0; i < node.operand_count(); ++i) srcs_.push_back(graph.value(node.inputs[i]).desc);
  for (graph::ValueId output : node.outputs) dsts_.push_back(graph.value(output).desc);
}

int64_t moved_bytes(const OpCall& call) {
  int64_t bytes = 0;
  for (const TensorDesc& src : call.srcs) bytes += src.size_bytes();
  for (const TensorDesc& dst : call.dsts) bytes += dst.size_bytes();
  return bytes;
}

Cost cost_of(const OpDef& def, const OpCall& call) {
  return def.cost ? def.cost(call) : Cost{.bytes = moved_bytes(call)};
}

}  // namespace plimsoll::ops
