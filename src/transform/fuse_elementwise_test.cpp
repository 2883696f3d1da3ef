#include "transform/fuse_elementwise.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace plimsoll::transform {
namespace {

std::string fused(const std::string& lines) {
  static const ops::OpTable kTable = ops::make_op_table();
  const graph::Graph graph = graph::try_parse_graph("graph \"g\"\n" + lines).value();
  const std::string text = graph::to_text(fuse_elementwise(graph, kTable));
  return text.substr(text.find('\n') + 1);
}

TEST(FuseElementwise, JoinsNeighboursThroughAnyOperand) {
  EXPECT_EQ(fused(R"(%0 = input "x" : f32[2,3]
%1 = input "row" : f32[3]
%2 = scalar "seed" : i64[]
%3 = dropout "drop" forward (%0, %2, %2, %2) {p=0.5, path="drop"} : f32[2,3]
%4 = subtract "less" forward (%1, %3) : f32[2,3]
%5 = relu "y" forward (%4) : f32[2,3]
output "y" %5
)"),
            R"g(%0 = input "x" : f32[2,3]
%1 = input "row" : f32[3]
%2 = scalar "seed" : i64[]
%3 = elementwise_chain "y" forward (%0, %2, %1) {chain="dropout(_, s0, s0, s0) {p=0.5, path=\"drop\"} | subtract(s1, _) | relu(_)"} : f32[2,3]
output "y" %3
)g");
  ;
}

/// Each text stays as it is.
TEST(FuseElementwise, LeavesApart) {
  const std::pair<const char*, const char*> cases[] = {
      {"a value that others read", R"(%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = exp "b" forward (%1) : f32[4]
%3 = reduce_sum "c" forward (%1) {axes=[0], keep_dims=false} : f32[]
output "b" %2
output "c" %3
)"},
      {"a value that an output names", R"(%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = exp "b" forward (%1) : f32[4]
output "a" %1
output "b" %2
)"},
      {"phases", R"(%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = exp "b" backward (%1) : f32[4]
output "b" %2
)"},
      {"a value that is read twice", R"(%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = multiply "b" forward (%1, %1) : f32[4]
output "b" %2
)"},
      {"a value that grows", R"(%0 = input "x" : f32[4]
%1 = input "y" : f32[2,4]
%2 = neg "a" forward (%0) : f32[4]
%3 = add "b" forward (%2, %1) : f32[2,4]
output "b" %3
)"},
      {"a column, which repeats along the last axis", R"(%0 = input "x" : f32[2,4]
%1 = input "y" : f32[2,1]
%2 = neg "a" forward (%0) : f32[2,4]
%3 = add "b" forward (%2, %1) : f32[2,4]
output "b" %3
)"},
      {"a source that is added into between", R"(%0 = input "x" : f32[1,4]
%1 = input "y" : f32[4]
%2 = abs "source" forward (%1) : f32[4]
%3 = neg "a" forward (%2) : f32[4]
%4 = reduce_sum "s" forward (%0, %2) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
%5 = multiply "b" forward (%3, %4) : f32[4]
output "b" %5
)"},
      {"a parameter that is updated between", R"(%0 = input "x" : f32[4]
%1 = parameter trainable "w" : f32[4]
%2 = scalar "lr" : f32[]
%3 = neg "a" update (%1) : f32[4]
%4 = sgd "next" update (%1, %0, %2, %2) {dampening=0.0, momentum=0.0, nesterov=false, weight_decay=0.0} : f32[4]
%5 = exp "b" update (%3) : f32[4]
output "b" %5
update %1 <- %4
)"}};
  for (const auto& [what, text] : cases) EXPECT_EQ(fused(text), text) << what;
}

}  // namespace
}  // namespace plimsoll::transform
