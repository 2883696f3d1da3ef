#include "ops/op_table.h"

#include <gtest/gtest.h>

namespace plimsoll::ops {
namespace {

/// The table and one op of it.
class OpTableTest : public testing::Test {
 protected:
  Result<Attributes> complete(const std::string& op, const Attributes& given) const {
    return table_.complete(table_.at(op), given);
  }
  std::string refusal(const std::string& op, const Attributes& given) const {
    const auto completed = complete(op, given);
    return completed.ok() ? "accepted" : completed.error().message;
  }
  OpTable table_ = make_op_table();
};

TEST_F(OpTableTest, FillsInDefaults) {
  const auto completed = complete("reduce_sum", {{"axes", std::vector<int64_t>{1}}});
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ(completed->get_ints("axes"), std::vector<int64_t>{1});
  EXPECT_FALSE(completed->get_bool("keep_dims"));
}

TEST_F(OpTableTest, EveryDefaultIsAccepted) {
  for (const auto& [name, def] : table_) {
    Attributes given;
    for (const AttributeDef& attribute : def.attributes)
      if (!attribute.default_value) given.set(attribute.name, attribute.example);
    EXPECT_TRUE(complete(name, given).ok()) << refusal(name, given);
  }
}

TEST_F(OpTableTest, SuggestsTheNearestNameForAMisspeltAttribute) {
  const std::string message = refusal("reduce_sum", {{"keep_dim", true}});
  EXPECT_EQ(message.rfind("[reduce_sum] has no attribute keep_dim; it has: axes, keep_dims", 0), 0) << message;
  EXPECT_NE(message.find("did you mean"), std::string::npos) << message;
}

TEST_F(OpTableTest, SaysThatAnOpHasNoAttributes) {
  EXPECT_EQ(refusal("add", {{"alpha", 2.0}}), "[add] has no attribute alpha; it has: none");
}

TEST_F(OpTableTest, RefusesTheWrongType) {
  EXPECT_EQ(refusal("reduce_sum", {{"axes", int64_t{1}}}),
            "[reduce_sum] attribute axes is 1; expected something like []");
  EXPECT_EQ(refusal("clip", {{"min", int64_t{0}}}), "[clip] attribute min is 0; expected something like -inf");
  EXPECT_EQ(refusal("cast", {{"dtype", true}}), "[cast] attribute dtype is true; expected something like \"f32\"");
}

TEST_F(OpTableTest, RefusesAValueThatIsNotAllowed) {
  const std::string message = refusal("gelu", {{"approximate", "tan"}});
  EXPECT_EQ(message.rfind("[gelu] attribute approximate is \"tan\"; expected one of none, tanh", 0), 0) << message;
}

TEST_F(OpTableTest, NamesAMissingAttribute) {
  EXPECT_EQ(refusal("reshape", {}), "[reshape] attribute shape is missing");
}

TEST_F(OpTableTest, CountsInputs) {
  const OpDef& add = table_.at("add");
  const std::vector<TensorDesc> one(1);
  EXPECT_EQ(table_.infer(add, one, {}).error().message, "[add] takes 2 inputs, given 1");
  const auto axis = complete("concat", {{"axis", int64_t{0}}});
  EXPECT_EQ(table_.infer(table_.at("concat"), {}, *axis).error().message, "[concat] takes 1 or more inputs, given 0");
}

TEST_F(OpTableTest, RefusesInputsAndOutputsTooLargeToCount) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const std::vector<TensorDesc> huge{{DType::kF32, {kHuge, kHuge}, {}}};
  EXPECT_EQ(table_.infer(table_.at("relu"), huge, {}).error().message,
            "[relu] an input is f32[1099511627776,1099511627776]; expected extents whose bytes fit in 64 bits");
  const std::vector<TensorDesc> crossed{{DType::kF32, {kHuge, 1}, {}}, {DType::kF32, {1, kHuge}, {}}};
  EXPECT_EQ(table_.infer(table_.at("add"), crossed, {}).error().message,
            "[add] an output is f32[1099511627776,1099511627776]; expected extents whose bytes fit in 64 bits");
  const std::vector<TensorDesc> empty_but_huge{{DType::kF32, {0, kHuge, kHuge}, {}}};
  EXPECT_FALSE(table_.infer(table_.at("relu"), empty_but_huge, {}).ok());
}

TEST_F(OpTableTest, MessagesSayWhatWasGivenAndWhatIsExpected) {
  const auto message = [&](const std::string& op, std::vector<TensorDesc> srcs, const Attributes& given) {
    const auto dsts = table_.infer(table_.at(op), srcs, *complete(op, given));
    return dsts.ok() ? "accepted" : dsts.error().message;
  };
  const TensorDesc a{DType::kF32, {3, 4}, {}}, b{DType::kF32, {5}, {}}, ids{DType::kI32, {3}, {}};
  EXPECT_EQ(message("add", {a, b}, {}),
            "[add] a f32[3,4], b f32[5] do not broadcast; expected extents that are equal or 1, counted from the last "
            "axis");
  EXPECT_EQ(message("relu", {ids}, {}), "[relu] src is i32[3]; expected a floating type: f32, bf16, f16 or f64");
  EXPECT_EQ(message("argmax", {a}, {{"axis", int64_t{2}}}),
            "[argmax] axis 2 is out of range for src f32[3,4]; expected -2..1");
  EXPECT_EQ(message("reshape", {a}, {{"shape", std::vector<int64_t>{5, -1}}}),
            "[reshape] shape [5,-1] leaves no whole size for -1 for src f32[3,4]");
}

}  // namespace
}  // namespace plimsoll::ops
