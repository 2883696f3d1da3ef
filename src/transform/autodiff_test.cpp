#include "transform/autodiff.h"

#include <gtest/gtest.h>

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::ValueId;

const ops::OpTable& table() {
  static const ops::OpTable kTable = ops::make_op_table();
  return kTable;
}

TensorDesc f32(Shape shape) { return {DType::kF32, shape, {}}; }

/// x [3,8] through a layer norm, whose outputs are the result, the mean and the reciprocal deviation.
struct Norm {
  Graph graph{"norm"};
  ops::Builder b{graph, table()};
  ValueId x = b.input("x", f32({3, 8}));
  std::vector<ValueId> outputs =
      b.add_all("layer_norm", {x, b.parameter("weight", f32({8})), b.parameter("bias", f32({8}))}, {{"eps", 1e-5}}, 3,
                {.name = "ln"});

  ValueId sum(ValueId value) { return b.add("reduce_sum", {value}, {{"axes", all_axes(value)}, {"keep_dims", false}}); }
  std::vector<int64_t> all_axes(ValueId value) {
    std::vector<int64_t> axes;
    for (int axis = 0; axis < b.desc(value).shape.rank(); ++axis) axes.push_back(axis);
    return axes;
  }
};

TEST(Autodiff, RefusesALossOfAnOutputThatOnlyTheBackwardPassReads) {
  Norm norm;
  const ValueId loss = norm.sum(norm.outputs[1]);
  const auto gradients = differentiate(norm.b, loss, std::vector{norm.x});
  ASSERT_FALSE(gradients.ok());
}

TEST(Autodiff, RefusesALossThatTakesSuchAnOutputBesideTheFirst) {
  Norm norm;
  const ValueId loss = norm.b.add("add", {norm.sum(norm.outputs[0]), norm.sum(norm.outputs[2])});
  const auto gradients = differentiate(norm.b, loss, std::vector{norm.x});
  ASSERT_FALSE(gradients.ok());
  EXPECT_EQ(gradients.error().message,
            "[autodiff] no gradient flows through output 2 of layer_norm 'ln'; keep it out of the loss");
}

/// Logits of x [2,3] for four classes, and their loss.
struct Classifier {
  Graph graph{"classifier"};
  ops::Builder b{graph, table()};
  ValueId x = b.input("x", f32({2, 3}));
  ValueId other = b.parameter("other", f32({3}));
  ValueId weight = b.parameter("weight", f32({4, 3}));
  ValueId loss = b.add("linear_cross_entropy",
                       {x, weight, b.input("targets", {DType::kI32, {2}, {}}), b.scalar("inv_valid", DType::kF32)}, {},
                       {.name = "head"});
};

TEST(Autodiff, SaysThatALossRunsTwiceWhereItIsNotTheRoot) {
  Classifier c;
  const ValueId two = c.b.constant("two", f32({}), {2.0});
  const auto gradients = differentiate(c.b, c.b.add("multiply", {c.loss, two}), std::vector{c.weight});
  ASSERT_TRUE(gradients.ok()) << gradients.error().message;
  EXPECT_EQ(gradients->notes, std::vector<std::string>{
                                  "[linear_cross_entropy] 'head' runs twice a step, once for the loss and once for its "
                                  "gradients: the loss that is trained on is neither its output nor a sum with it"});
}

TEST(Autodiff, SaysNothingWhereALossRunsOnce) {
  Classifier root;
  EXPECT_TRUE(differentiate(root.b, root.loss, std::vector{root.weight})->notes.empty());
  Classifier term;
  const ValueId penalty = term.b.add("sum_of_squares", {term.weight});
  EXPECT_TRUE(differentiate(term.b, term.b.add("add", {term.loss, penalty}), std::vector{term.weight})->notes.empty());
  Classifier frozen;
  const ValueId squares = frozen.b.add("sum_of_squares", {frozen.other});
  const ValueId scaled = frozen.b.add("multiply", {frozen.loss, squares});
  const auto beside = differentiate(frozen.b, scaled, std::vector{frozen.other});
  EXPECT_EQ(beside->entries.size(), 1u);
  EXPECT_TRUE(beside->notes.empty());
}

TEST(Autodiff, RefusesAGradientWhoseNameIsTaken) {
  Classifier c;
  c.b.input("head:1", f32({}));
  const auto gradients = differentiate(c.b, c.loss, std::vector{c.weight});
  ASSERT_FALSE(gradients.ok());
  EXPECT_EQ(gradients.error().message,
            "[linear_cross_entropy] 'head:1' is the name of another value; 'head' needs it for a gradient");
}

TEST(Autodiff, RefusesGradientsOfWhatIsComputed) {
  Norm norm;
  const ValueId loss = norm.sum(norm.outputs[0]);
  const auto gradients = differentiate(norm.b, loss, std::vector{norm.outputs[0]});
  ASSERT_FALSE(gradients.ok());
  EXPECT_EQ(gradients.error().message, "[autodiff] 'ln' is computed; gradients are those of parameters and inputs");
}

TEST(Builder, NamesNodesSoThatNoOutputsNameIsTaken) {
  Graph graph("g");
  ops::Builder b(graph, table());
  const ValueId x = b.input("half:1", f32({4}));
  const auto halves =
      b.add_all("split", {x}, {{"axis", int64_t{0}}, {"sizes", std::vector<int64_t>{2, 2}}}, 2, {.name = "half"});
  ASSERT_TRUE(b.status().ok()) << b.status().error().message;
  EXPECT_EQ(graph.value(halves[1]).name, "half.1:1");
}

TEST(Builder, RefusesAStepScalarWhoseNameIsTaken) {
  Graph graph("g");
  ops::Builder b(graph, table());
  b.input("step", f32({2}));
  EXPECT_FALSE(b.scalar("step", DType::kI64).is_valid());
  EXPECT_EQ(b.status().error().message, "'step' is the name of a step scalar; a value of that name is in its way");
}

}  // namespace
}  // namespace plimsoll::transform
