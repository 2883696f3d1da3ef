#include "transform/fuse_attention_layout.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace plimsoll::transform {
namespace {

std::string fused(const std::string& lines) {
  static const ops::OpTable kTable = ops::make_op_table();
  const graph::Graph graph = graph::try_parse_graph("graph \"g\"\n" + lines).value();
  const std::string text = graph::to_text(fuse_attention_layout(graph, kTable));
  return text.substr(text.find('\n') + 1);
}

constexpr const char* kForward = R"(%0 = input "qkv" : f32[2,5,12]
%1, %2, %3 = split "split" forward (%0) {axis=-1, sizes=[4,4,4]} : f32[2,5,4], f32[2,5,4], f32[2,5,4]
%4 = reshape "q" forward (%1) {shape=[2,5,2,2]} : f32[2,5,2,2]
%5 = reshape "k" forward (%2) {shape=[2,5,2,2]} : f32[2,5,2,2]
%6 = reshape "v" forward (%3) {shape=[2,5,2,2]} : f32[2,5,2,2]
%7, %8 = attention "a" forward (%4, %5, %6) {causal=true, dropout=0.0, path="", scale=0.0} : f32[2,5,2,2], f32[2,2,5]
)";

TEST(FuseAttentionLayout, ReadsAndWritesPackedRows) {
  EXPECT_EQ(
      fused(
          std::string(kForward) +
          R"(%9, %10, %11 = attention_grad "a.grad" backward (%4, %5, %6, %7, %8, %7) {causal=true, dropout=0.0, path="", scale=0.0} : f32[2,5,2,2], f32[2,5,2,2], f32[2,5,2,2]
%12 = reshape "dv" backward (%11) {shape=[2,5,4]} : f32[2,5,4]
%13 = reshape "dk" backward (%10) {shape=[2,5,4]} : f32[2,5,4]
%14 = reshape "dq" backward (%9) {shape=[2,5,4]} : f32[2,5,4]
%15 = concat "d_qkv" backward (%14, %13, %12) {axis=-1} : f32[2,5,12]
output "d_qkv" %15
)"),
      R"(%0 = input "qkv" : f32[2,5,12]
%1, %2 = attention_packed "a" forward (%0) {causal=true, dropout=0.0, heads=2, path="", scale=0.0} : f32[2,5,2,2], f32[2,2,5]
%3 = attention_packed_grad "a.grad" backward (%0, %1, %2, %1) {causal=true, dropout=0.0, heads=2, path="", scale=0.0} : f32[2,5,12]
output "d_qkv" %3
)");
}

TEST(FuseAttentionLayout, NeedsNoGradient) {
  EXPECT_EQ(fused(std::string(kForward) + "output \"o\" %7\n"), R"(%0 = input "qkv" : f32[2,5,12]
%1, %2 = attention_packed "a" forward (%0) {causal=true, dropout=0.0, heads=2, path="", scale=0.0} : f32[2,5,2,2], f32[2,2,5]
output "o" %1
)");
}

TEST(FuseAttentionLayout, LeavesPiecesThatOthersRead) {
  const std::string lines = std::string(kForward) + "output \"o\" %7\noutput \"k\" %5\n";
  EXPECT_EQ(fused(lines), lines);
}

}  // namespace
}  // namespace plimsoll::transform
