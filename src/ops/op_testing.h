#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/evaluate.h"
#include "ops/gradient.h"
#include "ops/sample_srcs.h"

namespace plimsoll::ops {

inline const OpTable& test_ops() {
  static const OpTable table = make_op_table();
  return table;
}

inline Array f32_array(const Shape& shape, std::vector<double> values) {
  return Array({DType::kF32, shape, {}}, std::move(values));
}
inline Array i32_array(const Shape& shape, std::vector<double> values) {
  return Array({DType::kI32, shape, {}}, std::move(values));
}
inline Array f32_number(double value) { return f32_array({}, {value}); }
inline Array i64_number(double value) { return Array({DType::kI64, {}, {}}, {value}); }
/// Numbers in [-1, 1) that depend on `seed` alone.
inline Array random_array(const Shape& shape, uint64_t seed) { return make_sample_array(f32_src(shape), seed); }

inline std::vector<TensorDesc> descs_of(std::span<const Array> arrays) {
  std::vector<TensorDesc> out;
  for (const Array& array : arrays) out.push_back(array.desc);
  return out;
}

/// All outputs of one op, in f64.
inline std::vector<Array> run_op(const std::string& op, const std::vector<Array>& srcs,
                                 const Attributes& attributes = {}) {
  const OpDef& def = test_ops().at(op);
  const Attributes complete = test_ops().complete(def, attributes).value();
  const auto descs = test_ops().infer(def, descs_of(srcs), complete);
  std::vector<Array> dsts(descs.value().begin(), descs.value().end());
  def.evaluate(srcs, dsts, complete);
  return dsts;
}

/// The message of the refusal, or "" where the call is accepted.
inline std::string refusal_of(const std::string& op, const std::vector<TensorDesc>& srcs,
                              const Attributes& attributes = {}) {
  const OpDef& def = test_ops().at(op);
  const auto complete = test_ops().complete(def, attributes);
  if (!complete.ok()) return complete.error().message;
  const auto dsts = test_ops().infer(def, srcs, *complete);
  return dsts.ok() ? "" : dsts.error().message;
}

/// What an op's gradient rule gives: output 0 after differentiation, and a gradient for each floating input.
struct RuleResult {
  Array dst;
  std::vector<Array> d_srcs;
  std::vector<std::string> ops;  ///< of all nodes, in order
};

/// Applies the gradient rule to one node and evaluates the graph. `d_dst` is the gradient of output 0.
inline RuleResult run_gradient(const std::string& op, const std::vector<Array>& srcs, const Attributes& attributes,
                               const Array& d_dst, bool is_loss_root = false) {
  graph::Graph graph;
  Builder builder(graph, test_ops());
  std::vector<graph::ValueId> inputs;
  std::vector<bool> wanted;
  for (const Array& src : srcs) {
    inputs.push_back(builder.input("src" + std::to_string(inputs.size()), src.desc));
    wanted.push_back(is_floating(src.desc.dtype));
  }
  const graph::ValueId dst = builder.add(op, inputs, attributes);
  EXPECT_TRUE(builder.status().ok()) << builder.status().error().message;
  const graph::NodeId node = graph.value(dst).producer;
  std::vector<graph::ValueId> d_dsts(graph.node(node).outputs.size());
  d_dsts[0] = builder.input("d_dst", d_dst.desc);
  builder.set_phase(graph::Phase::kBackward);
  GradientContext context(builder, node, d_dsts, wanted, is_loss_root);
  test_ops().at(op).gradient(context);
  EXPECT_TRUE(builder.status().ok()) << builder.status().error().message;

  std::vector<Array> leaves(graph.values().size());
  for (size_t i = 0; i < srcs.size(); ++i) leaves[inputs[i].index()] = srcs[i];
  leaves[d_dsts[0].index()] = d_dst;
  const std::vector<Array> values = evaluate_graph(test_ops(), graph, leaves);
  RuleResult out{.dst = values[dst.index()], .d_srcs = {}, .ops = {}};
  for (const graph::ValueId id : context.d_srcs()) out.d_srcs.push_back(id.is_valid() ? values[id.index()] : Array());
  for (const graph::Node& one : graph.nodes()) out.ops.push_back(one.op);
  return out;
}

inline void expect_near(const Array& actual, const std::vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(actual.data.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual.data[i], expected[i], tolerance) << "element " << i;
}

}  // namespace plimsoll::ops
