#include "transform/fuse_matmul.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace plimsoll::transform {
namespace {

using Pass = graph::Graph (*)(const graph::Graph& graph, const ops::OpTable& ops);

std::string fused(Pass pass, const std::string& lines) {
  static const ops::OpTable kTable = ops::make_op_table();
  const graph::Graph graph = graph::try_parse_graph("graph \"g\"\n" + lines).value();
  const std::string text = graph::to_text(pass(graph, kTable));
  return text.substr(text.find('\n') + 1);
}

TEST(FuseMatmulEpilogue, KeepsWhatOthersRead) {
  EXPECT_EQ(fused(fuse_matmul_epilogue, R"(%0 = input "x" : f32[2,3]
%1 = input "w" : f32[3,4]
%2 = input "b" : f32[4]
%3 = matmul "fc" forward (%0, %1, %2) {transpose_a=false, transpose_b=false} : f32[2,4]
%4 = relu "act" forward (%3) : f32[2,4]
%5 = softmax "d" forward (%4) {axis=-1} : f32[2,4]
%6 = gelu_grad "back" forward (%3, %5) {approximate="none"} : f32[2,4]
output "d" %6
)"),
            R"g(%0 = input "x" : f32[2,3]
%1 = input "w" : f32[3,4]
%2 = input "b" : f32[4]
%3, %4 = matmul_chain "act" forward (%0, %1, %2) {chain="keep | relu(_)", transpose_a=false, transpose_b=false} : f32[2,4], f32[2,4]
%5 = softmax "d" forward (%3) {axis=-1} : f32[2,4]
%6 = gelu_grad "back" forward (%4, %5) {approximate="none"} : f32[2,4]
output "d" %6
)g");
  ;
}

TEST(FuseMatmulEpilogue, TakesInDropoutResidualAndGradients) {
  EXPECT_EQ(fused(fuse_matmul_epilogue, R"(%0 = input "x" : f32[2,3]
%1 = input "w" : f32[3,3]
%2 = scalar "seed" : i64[]
%3 = matmul "fc" forward (%0, %1) {transpose_a=false, transpose_b=false} : f32[2,3]
%4 = matmul "other" forward (%0, %1) {transpose_a=false, transpose_b=false} : f32[2,3]
%5 = dropout "drop" forward (%3, %2, %2, %2) {p=0.5, path="p"} : f32[2,3]
%6 = add "sum" forward (%0, %5) : f32[2,3]
%7 = gelu_grad "g" forward (%0, %4) {approximate="none"} : f32[2,3]
output "sum" %6
output "g" %7
)"),
            R"g(%0 = input "x" : f32[2,3]
%1 = input "w" : f32[3,3]
%2 = scalar "seed" : i64[]
%3 = matmul_chain "sum" forward (%0, %1, %2, %0) {chain="dropout(_, s0, s0, s0) {p=0.5, path=\"p\"} | add(s1, _)", transpose_a=false, transpose_b=false} : f32[2,3]
%4 = matmul_chain "g" forward (%0, %1, %0) {chain="gelu_grad(s0, _) {approximate=\"none\"}", transpose_a=false, transpose_b=false} : f32[2,3]
output "sum" %3
output "g" %4
)g");
}

/// Each text stays as it is.
TEST(FuseMatmulEpilogue, LeavesApart) {
  const std::pair<const char*, const char*> cases[] = {
      {"a product that is added into another", R"(%0 = input "x" : f32[2,2]
%1 = neg "to" forward (%0) : f32[2,2]
%2 = matmul "fc" forward (%0, %0, %1) {transpose_a=false, transpose_b=false} accumulate(0) : f32[2,2]
%3 = relu "y" forward (%2) : f32[2,2]
output "y" %3
)"},
      {"an activation that may be made again in the backward pass", R"(%0 = input "x" : f32[2,2]
%1 = matmul "fc" forward (%0, %0) {transpose_a=false, transpose_b=false} : f32[2,2]
%2 = gelu "act" forward (%1) {approximate="none"} : f32[2,2]
%3 = gelu_grad "back" backward (%1, %2) {approximate="none"} : f32[2,2]
output "y" %3
)"},
      {"a step that reads what would be kept", R"(%0 = input "x" : f32[2,2]
%1 = matmul "fc" forward (%0, %0) {transpose_a=false, transpose_b=false} : f32[2,2]
%2 = multiply "square" forward (%1, %1) : f32[2,2]
output "y" %2
)"},
      {"a product that is read before", R"(%0 = input "x" : f32[2,2]
%1 = matmul "fc" forward (%0, %0) {transpose_a=false, transpose_b=false} : f32[2,2]
%2 = softmax "first" forward (%1) {axis=-1} : f32[2,2]
%3 = add "y" forward (%1, %2) : f32[2,2]
output "y" %3
)"}};
  for (const auto& [what, text] : cases) EXPECT_EQ(fused(fuse_matmul_epilogue, text), text) << what;
}

TEST(FuseMatmulEpilogue, StopsBeforeAReaderOfWhatIsKept) {
  const std::string text = fused(fuse_matmul_epilogue, R"(%0 = input "x" : f32[2,2]
%1 = matmul "fc" forward (%0, %0) {transpose_a=false, transpose_b=false} : f32[2,2]
%2 = sigmoid "gate" forward (%1) : f32[2,2]
%3 = multiply "y" forward (%1, %2) : f32[2,2]
output "y" %3
)");
  EXPECT_NE(text.find("chain=\"keep | sigmoid(_)\""), std::string::npos) << text;
  EXPECT_NE(text.find("multiply \"y\""), std::string::npos) << text;
}

TEST(FuseBiasGradient, JoinsTheSumOfTheSameRows) {
  EXPECT_EQ(fused(fuse_bias_gradient, R"(%0 = input "x" : f32[6,3]
%1 = input "d" : f32[2,3,4]
%2 = reshape "rows" backward (%1) {shape=[6,4]} : f32[6,4]
%3 = matmul "d_w" backward (%0, %2) {transpose_a=true, transpose_b=false} : f32[3,4]
%4 = reduce_sum "d_b" backward (%1) {axes=[0,1], keep_dims=false} : f32[4]
output "d_w" %3
output "d_b" %4
)"),
            R"(%0 = input "x" : f32[6,3]
%1 = input "d" : f32[2,3,4]
%2 = reshape "rows" backward (%1) {shape=[6,4]} : f32[6,4]
%3, %4 = matmul_bias_grad "d_w" backward (%0, %2) : f32[3,4], f32[4]
output "d_w" %3
output "d_b" %4
)");
}

TEST(FuseBiasGradient, LeavesOtherSumsApart) {
  const std::string lines = R"(%0 = input "x" : f32[6,3]
%1 = input "d" : f32[2,3,4]
%2 = reshape "rows" backward (%1) {shape=[6,4]} : f32[6,4]
%3 = matmul "d_w" backward (%0, %2) {transpose_a=true, transpose_b=false} : f32[3,4]
%4 = reduce_sum "all" backward (%1) {axes=[0,1,2], keep_dims=false} : f32[]
%5 = reduce_sum "other" backward (%1) {axes=[0,2], keep_dims=false} : f32[3]
output "d_w" %3
output "all" %4
output "other" %5
)";
  EXPECT_EQ(fused(fuse_bias_gradient, lines), lines);
}

}  // namespace
}  // namespace plimsoll::transform
