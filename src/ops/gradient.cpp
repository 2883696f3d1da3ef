#include "ops/gradient.h"

namespace plimsoll::ops {

using graph::ValueId;

std::vector<ValueId> GradientContext::add_all(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                                              size_t expected_outputs) {
  return builder_.add_all(op, std::move(inputs), std::move(attributes), expected_outputs,
                          {.name = node().name + ".grad"});
}

ValueId GradientContext::add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  return builder_.add(op, std::move(inputs), std::move(attributes), {.name = node().name + ".grad"});
}

// By value, as in Builder::add_all. NOLINTNEXTLINE(performance-unnecessary-value-param)
std::vector<ValueId> GradientContext::replace(std::string_view op, Attributes attributes) {
  const OpDef& def = builder_.ops().at(op);
  auto complete = builder_.ops().complete(def, attributes);
  PLIMSOLL_CHECK(complete.ok(), complete.error().message);
  graph::Node& node = builder_.target().node(node_);
  std::vector<TensorDesc> srcs;
  for (ValueId input : node.inputs) srcs.push_back(builder_.desc(input));
  auto dsts = builder_.ops().infer(def, srcs, *complete);
  PLIMSOLL_CHECK(dsts.ok(), dsts.error().message);
  const size_t known = node.outputs.size();
  for (size_t i = known; i < dsts->size(); ++i) {
    const std::string name = graph::output_name(node.name, static_cast<int>(i));
    if (!builder_.target().find_value(name).is_valid()) continue;
    builder_.fail(invalid_argument("[" + node.op + "] '" + name + "' is the name of another value; '" + node.name +
                                   "' needs it for a gradient"));
    return std::vector<ValueId>(dsts->size() - known);
  }
  node.op = def.name;
  node.attributes = std::move(*complete);
  return builder_.target().add_outputs(node_, std::span(*dsts).subspan(known));
}

ValueId GradientContext::constant(double number, DType dtype) {
  return builder_.constant(node().name + ".constant", {dtype, {}, {}}, {number});
}

ValueId GradientContext::sum_to(ValueId gradient, Shape shape) {
  const Shape from = builder_.desc(gradient).shape;
  if (from == shape) return gradient;
  const int shift = from.rank() - shape.rank();
  std::vector<int64_t> axes;
  for (int axis = 0; axis < from.rank(); ++axis)
    if (axis < shift || (shape[axis - shift] == 1 && from[axis] != 1)) axes.push_back(axis);
  ValueId out = gradient;
  if (!axes.empty()) out = add("reduce_sum", {gradient}, {{"axes", axes}, {"keep_dims", false}});
  if (builder_.status().ok() && builder_.desc(out).shape != shape)
    out = add("reshape", {out}, {{"shape", std::vector<int64_t>(shape.dims().begin(), shape.dims().end())}});
  return out;
}

}  // namespace plimsoll::ops
