#include "ops/builder.h"

#include <algorithm>

#include "core/suggest.h"

namespace plimsoll::ops {

using graph::ValueId;
using graph::ValueKind;

ValueId Builder::fail(Error error) {
  if (status_.ok()) status_ = std::move(error);
  return {};
}

// By value: a caller's attributes may be those of a node, and move when a node is added while its arguments are made.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
std::vector<ValueId> Builder::add_all(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                                      size_t expected_outputs, NodeOptions options) {
  const auto refuse = [&](Error error) {
    fail(std::move(error));
    return std::vector<ValueId>(expected_outputs);
  };
  if (!status_.ok()) return std::vector<ValueId>(expected_outputs);
  const OpDef* def = ops_.find(op);
  if (def == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : ops_) names.push_back(name);
    return refuse(invalid_argument("there is no op '" + std::string(op) + "'" + suggest(op, names)));
  }
  const std::string name = prefix_ + (options.name.empty() ? std::string(op) : options.name);
  auto complete = ops_.complete(*def, attributes);
  if (!complete.ok()) return refuse(complete.error().with_context(name));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_valid())
      return refuse(invalid_argument("[" + name + "] input " + std::to_string(i) + " is no value"));
  std::vector<TensorDesc> srcs;
  for (size_t i = 0; i + options.accumulated_outputs.size() < inputs.size(); ++i) srcs.push_back(desc(inputs[i]));
  auto dsts = ops_.infer(*def, srcs, *complete);
  if (!dsts.ok()) return refuse(dsts.error().with_context(name));
  const graph::NodeId id = graph_.add_node({.op = std::string(op),
                                            .name = graph_.unique_node_name(name, dsts->size()),
                                            .phase = phase_,
                                            .attributes = *complete,
                                            .inputs = std::move(inputs),
                                            .accumulated_outputs = std::move(options.accumulated_outputs)},
                                           *dsts);
  return graph_.node(id).outputs;
}

ValueId Builder::add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, NodeOptions options) {
  const auto outputs = add_all(op, std::move(inputs), std::move(attributes), 1, std::move(options));
  return outputs.empty() ? ValueId{} : outputs[0];
}

ValueId Builder::leaf(ValueKind kind, const std::string& name, TensorDesc desc, bool is_trainable) {
  if (!status_.ok()) return {};
  const std::string path = prefix_ + name;
  if (graph_.find_value(path).is_valid()) return fail(invalid_argument("two values are named '" + path + "'"));
  const auto numel = desc.shape.try_numel();
  if (!numel || !checked_multiply(*numel, size_bytes(desc.dtype)))
    return fail(invalid_argument("'" + path + "' has no valid size: " + to_string(desc)));
  return graph_.add_leaf(kind, path, desc, is_trainable);
}

ValueId Builder::input(const std::string& name, TensorDesc desc) { return leaf(ValueKind::kInput, name, desc); }
ValueId Builder::parameter(const std::string& name, TensorDesc desc, bool is_trainable) {
  return leaf(ValueKind::kParameter, name, desc, is_trainable);
}
ValueId Builder::state(const std::string& name, TensorDesc desc) { return leaf(ValueKind::kState, name, desc); }

ValueId Builder::scalar(const std::string& name, DType dtype) {
  if (!status_.ok()) return {};
  if (const ValueId known = graph_.find_value(name); known.is_valid()) {
    const graph::Value& value = graph_.value(known);
    if (value.kind == ValueKind::kScalar && value.desc.dtype == dtype) return known;
    return fail(invalid_argument("'" + name + "' is the name of a step scalar; a value of that name is in its way"));
  }
  return graph_.add_leaf(ValueKind::kScalar, name, {dtype, {}, {}});
}

ValueId Builder::constant(const std::string& name, TensorDesc desc, std::vector<double> literal) {
  if (!status_.ok()) return {};
  std::string path = graph_.unique_node_name(prefix_ + name);
  return graph_.add_constant(std::move(path), desc, std::move(literal));
}

}  // namespace plimsoll::ops
