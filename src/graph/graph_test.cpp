#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace plimsoll::graph {
namespace {

TEST(Verify, RefusesAReadAfterAccumulation) {
  const auto result = try_parse_graph(R"(graph "g"
%0 = input "x" : f32[1]
%1 = f "a" forward (%0) : f32[1]
%2 = f "b" forward (%0, %1) accumulate(0) : f32[1]
%3 = f "c" forward (%1) : f32[1]
)");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("'c' reads 'a' after it was added into"), std::string::npos);
}

TEST(Verify, RefusesAMicrobatchNodeAfterTheUpdate) {
  const auto result = try_parse_graph(R"(graph "g"
%0 = input "x" : f32[1]
%1 = f "a" update (%0) : f32[1]
%2 = f "b" backward (%1) : f32[1]
)");
  EXPECT_FALSE(result.ok());
}

std::string fault_of(const std::string& lines) {
  const auto result =
      try_parse_graph("graph \"g\"\n%0 = state \"s\" : f32[1]\n%1 = f \"a\" update (%0) : f32[1]\n" + lines);
  return result.ok() ? "" : result.error().message;
}

TEST(Verify, RefusesEndsThatMeanNothing) {
  EXPECT_EQ(fault_of("update %0 <- %1\n"), "");
  EXPECT_NE(fault_of("update %0 <- %1\nupdate %0 <- %1\n").find("update of 's' occurs twice"), std::string::npos);
  EXPECT_NE(fault_of("%2 = f \"b\" update (%1) accumulate(0) : f32[1]\nupdate %0 <- %1\n").find("not live"),
            std::string::npos);
  EXPECT_NE(fault_of("%2 = f \"b\" update (%1, %1) accumulate(0) : f32[1]\n").find("reads 'a', into which it adds"),
            std::string::npos);
}

TEST(Verify, RefusesACheckOfWhatIsNotComputed) {
  Graph graph("g");
  const ValueId leaf = graph.add_leaf(ValueKind::kInput, "x", {DType::kF32, {}, {}});
  graph.add_check(leaf, "loss");
  EXPECT_NE(verify(graph).error().message.find("names no computed value"), std::string::npos);
}

TEST(Verify, RefusesLayoutsThatMakeNoSense) {
  TensorDesc desc{DType::kF32, {2, 3}, {}};
  const auto is_refused = [&](const Layout& layout) {
    Graph graph("g");
    graph.add_leaf(ValueKind::kInput, "x", {desc.dtype, desc.shape, layout});
    return !verify(graph).ok();
  };
  EXPECT_FALSE(is_refused({.is_permuted = true, .order = {1, 0}, .blocks = {{{0, 4}, {0, 2}}}}));
  EXPECT_TRUE(is_refused({.is_permuted = true, .order = {1, 1}}));
  EXPECT_TRUE(is_refused({.is_permuted = true, .order = {1, 2}}));
  EXPECT_TRUE(is_refused({.is_permuted = true, .order = {1, 0, 3}}));
  EXPECT_TRUE(is_refused({.order = {1, 0}}));
  EXPECT_TRUE(is_refused({.blocks = {{{2, 4}, {}}}}));
  EXPECT_TRUE(is_refused({.blocks = {{{0, 0}, {}}}}));
  EXPECT_TRUE(is_refused({.blocks = {{{}, {0, 4}}}}));
}

TEST(Verify, RefusesLiteralsOfWhatIsNoConstant) {
  Graph graph("g");
  const ValueId leaf = graph.add_leaf(ValueKind::kInput, "x", {DType::kF32, {1}, {}});
  graph.value(leaf).literal = {1.0};
  EXPECT_FALSE(verify(graph).ok());
}

}  // namespace
}  // namespace plimsoll::graph
