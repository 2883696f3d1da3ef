#pragma once

#include <gtest/gtest.h>

#include <map>

#include "core/hash.h"
#include "graph/verify.h"
#include "models/model.h"
#include "ops/evaluate.h"
#include "ops/sample_srcs.h"
#include "transform/autodiff.h"

/// What tests of models share: graphs evaluated in f64 from values that depend on names alone.
namespace plimsoll::models {

inline const ops::OpTable& test_ops() {
  static const ops::OpTable table = ops::make_op_table();
  return table;
}

using GivenLeaves = std::map<std::string, std::vector<double>, std::less<>>;

/// `given` where a leaf has a value there, zeros for state, else numbers in [-0.5, 0.5) by name.
inline std::vector<ops::Array> make_leaves(const graph::Graph& graph, const GivenLeaves& given) {
  std::vector<ops::Array> leaves;
  for (const graph::Value& value : graph.values()) {
    const auto it = given.find(value.name);
    if (it != given.end())
      leaves.emplace_back(value.desc, it->second);
    else if (value.kind == graph::ValueKind::kParameter)
      leaves.push_back(ops::make_sample_array(ops::f32_src(value.desc.shape, -0.5, 0.5), stable_hash(value.name)));
    else
      leaves.emplace_back(value.desc);
    PLIMSOLL_CHECK(leaves.back().numel() == value.desc.numel(), value.name);
  }
  return leaves;
}

/// Ids 0 … high - 1 in a fixed disorder.
inline std::vector<double> make_ids(int64_t count, int64_t high, uint64_t seed) {
  return ops::make_sample_array(ops::i32_src({count}, 0, static_cast<double>(high)), seed).data;
}

inline ops::Array evaluate_value(const graph::Graph& graph, graph::ValueId id, std::vector<ops::Array> leaves) {
  return ops::evaluate_graph(test_ops(), graph, std::move(leaves))[id.index()];
}

/// Compares the gradient of every parameter, at its first, middle and last element, with central differences of the
/// loss, and expects that the loss depends on every parameter.
inline void expect_gradients(const Model& model, const GivenLeaves& given) {
  Model training = model;
  ops::Builder builder(training.graph, test_ops());
  const auto wanted = transform::trainable_parameters(training.graph);
  const auto gradients = transform::differentiate(builder, training.loss, wanted);
  ASSERT_TRUE(gradients.ok()) << gradients.error().message;
  EXPECT_TRUE(gradients->unreached.empty());
  ASSERT_TRUE(graph::verify(training.graph).ok()) << graph::verify(training.graph).error().message;
  const auto values = ops::evaluate_graph(test_ops(), training.graph, make_leaves(training.graph, given));
  const std::vector<ops::Array> leaves = make_leaves(model.graph, given);
  constexpr double kStep = 1e-4;
  for (const auto& [parameter, gradient] : gradients->entries) {
    const int64_t last = leaves[parameter.index()].numel() - 1;
    for (const int64_t element : {int64_t{0}, last / 2, last}) {
      const auto loss_at = [&](double shift) {
        std::vector<ops::Array> shifted = leaves;
        shifted[parameter.index()][element] += shift;
        return evaluate_value(model.graph, model.loss, std::move(shifted))[0];
      };
      const double expected = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(values[gradient.index()][element], expected, 1e-6 + 1e-5 * std::abs(expected))
          << model.graph.value(parameter).name << " element " << element;
    }
  }
}

}  // namespace plimsoll::models
