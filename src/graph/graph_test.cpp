#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace plimsoll::graph {
namespace {

constexpr const char* kTiny = R"(graph "tiny \"one\""
%0 = input "x" : f32[2,3]
%1 = parameter trainable "w" : f32[3,4]
%2 = scalar "lr" : f32[]
%3 = constant "c" [0.5, 2.0] : f32[2]
%4 = matmul "fc" forward (%0, %1) {transpose_b=false, eps=1e-05, axes=[0,-1], mode="a"} : f32[2,4]
%5 = matmul "fc.grad" backward (%0, %4, %1) {k=1.0} accumulate(0) : f32[3,4]
%6, %7 = pair "p" update (%5, %2) : f32[3,4], f32[]
output "y" %4
update %1 <- %6
check %7 "norm"
)";

TEST(Text, RoundTrips) {
  const auto first = try_parse_graph(kTiny);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::string text = to_text(*first);
  const auto second = try_parse_graph(text);
  ASSERT_TRUE(second.ok()) << second.error().message << "\n" << text;
  EXPECT_EQ(to_text(*second), text);
  EXPECT_EQ(first->node(NodeId{1}).accumulated_outputs, std::vector<int>{0});
  EXPECT_EQ(first->value(first->find_value("c")).literal, (std::vector<double>{0.5, 2.0}));
}

TEST(Text, NamesTheLineThatIsWrong) {
  for (const char* line :
       {"%0 = input x : f32[1]", "%0 = input \"x\" : f99[1]", "output \"y\" %3", "%0 = f \"n\" later () : f32[]",
        "%0 = constant \"c\" [1] : f32[2]", "%0 = input \"x\" : f32[4294967296,4294967296]"}) {
    const auto result = try_parse_graph(std::string("graph \"g\"\n") + line + "\n");
    ASSERT_FALSE(result.ok()) << line;
    EXPECT_NE(result.error().message.find("line 2"), std::string::npos) << result.error().message;
  }
}

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

}  // namespace
}  // namespace plimsoll::graph
