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
