// Gradients of every differentiable op against central differences, on its own samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/philox.h"
#include "ops/evaluate.h"
#include "transform/autodiff.h"

namespace plimsoll::transform {
namespace {

using graph::ValueId;
using ops::Array;

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;
/// Differences are taken at no more elements of an input than this, evenly spread.
constexpr int64_t kMaxProbes = 96;

bool contains(std::span<const int> indices, size_t index) {
  return std::ranges::find(indices, static_cast<int>(index)) != indices.end();
}

const ops::OpTable& table() {
  static const ops::OpTable kTable = ops::make_op_table();
  return kTable;
}

/// One sample of an op, and the loss Σ w · dst over its floating outputs; a rank-0 first output may also be the loss
/// itself, since some ops make their gradients in the forward pass then.
struct Case {
  const ops::OpDef& def;
  const ops::Sample& sample;
  bool is_loss_itself = false;
  std::string label;
  std::vector<Array> srcs;
  std::vector<TensorDesc> dst_descs;
  Attributes attributes;

  Case(const ops::OpDef& op, const ops::Sample& s, bool is_loss) : def(op), sample(s), is_loss_itself(is_loss) {
    label = def.name + to_string(sample.attributes);
    std::vector<TensorDesc> descs;
    for (size_t i = 0; i < sample.srcs.size(); ++i) {
      srcs.push_back(ops::make_sample_array(sample.srcs[i], i + 1));
      descs.push_back(sample.srcs[i].desc);
      label += " " + to_string(descs.back());
    }
    attributes = table().complete(def, sample.attributes).value();
    dst_descs = table().infer(def, descs, attributes).value();
  }

  bool is_counted(size_t dst) const {
    if (is_loss_itself) return dst == 0;
    return is_floating(dst_descs[dst].dtype) && !contains(def.saved_dsts, dst);
  }
  Array weight(size_t dst) const {
    if (is_loss_itself) return Array(dst_descs[dst], {1.0});
    return ops::make_sample_array({.desc = dst_descs[dst], .low = 0.5, .high = 1.5}, 1000 + dst);
  }
  /// Inputs that a gradient belongs to.
  std::vector<size_t> learned() const {
    std::vector<size_t> out;
    for (size_t i = 0; i < srcs.size(); ++i)
      if (is_floating(srcs[i].desc.dtype) && !contains(def.given_srcs, i)) out.push_back(i);
    return out;
  }
  double loss(std::span<const Array> inputs) const {
    std::vector<Array> dsts(dst_descs.begin(), dst_descs.end());
    def.evaluate(inputs, dsts, attributes);
    double sum = 0;
    for (size_t i = 0; i < dsts.size(); ++i) {
      if (!is_counted(i)) continue;
      const Array w = weight(i);
      for (int64_t k = 0; k < w.numel(); ++k) sum += w[k] * dsts[i][k];
    }
    return sum;
  }
};

/// The node's graph with the loss on top.
ValueId add_loss(ops::Builder& builder, const Case& c, std::vector<ValueId>& inputs) {
  for (size_t i = 0; i < c.srcs.size(); ++i) inputs.push_back(builder.input("src" + std::to_string(i), c.srcs[i].desc));
  const auto dsts = builder.add_all(c.def.name, inputs, c.attributes, c.dst_descs.size());
  if (c.is_loss_itself) return dsts[0];
  ValueId total;
  for (size_t i = 0; i < dsts.size(); ++i) {
    if (!c.is_counted(i)) continue;
    const auto w = builder.constant("w" + std::to_string(i), c.dst_descs[i], c.weight(i).data);
    auto part = builder.add("reduce_sum", {builder.add("multiply", {dsts[i], w})});
    if (c.dst_descs[i].dtype != DType::kF32) part = builder.add("cast", {part}, {{"dtype", "f32"}});
    total = total.is_valid() ? builder.add("add", {total, part}) : part;
  }
  return total;
}

/// d loss / d input for each wanted one, by autodiff evaluated in f64. An input that the loss does not reach has zeros.
std::vector<Array> autodiff(const Case& c, const std::vector<size_t>& wanted) {
  graph::Graph graph;
  ops::Builder builder(graph, table());
  std::vector<ValueId> inputs;
  const ValueId loss = add_loss(builder, c, inputs);
  std::vector<ValueId> values;
  std::vector<Array> out;
  for (size_t i : wanted) {
    values.push_back(inputs[i]);
    out.emplace_back(c.srcs[i].desc);
  }
  const auto gradients = differentiate(builder, loss, values);
  EXPECT_TRUE(gradients.ok()) << c.label << ": " << gradients.error().message;
  if (!gradients.ok()) return out;
  std::vector<Array> leaves(graph.values().size());
  for (size_t i = 0; i < inputs.size(); ++i) leaves[inputs[i].index()] = c.srcs[i];
  const auto results = ops::evaluate_graph(table(), graph, std::move(leaves));
  for (const auto& [value, gradient] : gradients->entries)
    out[static_cast<size_t>(std::find(values.begin(), values.end(), value) - values.begin())] =
        results[gradient.index()];
  return out;
}

double difference(const Case& c, size_t input, int64_t element) {
  std::vector<Array> inputs = c.srcs;
  const double x = inputs[input][element];
  const double h = kStep * std::max(1.0, std::abs(x));
  inputs[input][element] = x + h;
  const double above = c.loss(inputs);
  inputs[input][element] = x - h;
  return (above - c.loss(inputs)) / (2 * h);
}

void check_against_differences(const Case& c) {
  const std::vector<size_t> wanted = c.learned();
  const std::vector<Array> gradients = autodiff(c, wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t stride = gradients[i].numel() / kMaxProbes + 1;
    for (int64_t k = 0; k < gradients[i].numel(); k += stride) {
      const double expected = difference(c, wanted[i], k);
      const double scale = std::max({1.0, std::abs(expected), std::abs(gradients[i][k])});
      ASSERT_NEAR(gradients[i][k], expected, kTolerance * scale)
          << c.label << " input " << wanted[i] << " element " << k;
    }
  }
}

/// Each gradient is the same whether the others are wanted or not.
void check_one_at_a_time(const Case& c) {
  const std::vector<size_t> wanted = c.learned();
  if (wanted.size() < 2) return;
  const std::vector<Array> together = autodiff(c, wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Array alone = autodiff(c, {wanted[i]})[0];
    for (int64_t k = 0; k < alone.numel(); ++k)
      ASSERT_NEAR(alone[k], together[i][k], 1e-12 * std::max(1.0, std::abs(alone[k])))
          << c.label << " input " << wanted[i] << " element " << k;
  }
}

/// A loss that depends on what is only saved is refused, not given a wrong gradient.
void check_refuses_saved_outputs(const Case& c) {
  for (const int saved : c.def.saved_dsts) {
    graph::Graph graph;
    ops::Builder builder(graph, table());
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < c.srcs.size(); ++i)
      inputs.push_back(builder.input("src" + std::to_string(i), c.srcs[i].desc));
    const auto dsts = builder.add_all(c.def.name, inputs, c.attributes, c.dst_descs.size());
    const ValueId loss = builder.add("reduce_sum", {dsts[static_cast<size_t>(saved)]});
    ASSERT_TRUE(builder.status().ok()) << c.label << ": " << builder.status().error().message;
    std::vector<ValueId> wanted;
    for (const size_t i : c.learned()) wanted.push_back(inputs[i]);
    EXPECT_FALSE(differentiate(builder, loss, wanted).ok()) << c.label << " output " << saved;
  }
}

std::vector<std::string> differentiable_ops() {
  std::vector<std::string> out;
  for (const auto& [name, def] : table())
    if (def.gradient) out.push_back(name);
  return out;
}

class EveryGradient : public testing::TestWithParam<std::string> {
 protected:
  template <class Check>
  void for_each_case(const Check& check) const {
    const ops::OpDef& def = table().at(GetParam());
    int count = 0;
    for (const ops::Sample& sample : def.samples()) {
      if (!sample.has_gradient) continue;
      const Case weighted(def, sample, false);
      if (weighted.learned().empty()) continue;
      ++count;
      check(weighted);
      const TensorDesc& first = weighted.dst_descs[0];
      if (first.shape.rank() == 0 && is_floating(first.dtype)) check(Case(def, sample, true));
    }
    EXPECT_GT(count, 0) << "no sample of " << GetParam() << " shows its gradient";
  }
};

INSTANTIATE_TEST_SUITE_P(Ops, EveryGradient, testing::ValuesIn(differentiable_ops()),
                         [](const auto& test) { return test.param; });

TEST_P(EveryGradient, AgreesWithCentralDifferences) { for_each_case(check_against_differences); }

TEST_P(EveryGradient, DoesNotDependOnWhichOthersAreWanted) { for_each_case(check_one_at_a_time); }

TEST_P(EveryGradient, DoesNotFlowThroughSavedOutputs) { for_each_case(check_refuses_saved_outputs); }

}  // namespace
}  // namespace plimsoll::transform
