#include "report/step_profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace plimsoll::report {
namespace {

/// One segment: matmul "h.0.fc", gelu "h.0.gelu", matmul "head", run `trips` times.
program::Program two_layers(int64_t trips = 1) {
  program::Program out;
  out.kernels = {{.op = "matmul", .attributes = {{"transpose_b", true}}, .srcs = {{DType::kF32, {2, 3}, {}}}},
                 {.op = "gelu"}};
  program::Segment segment{.name = "step", .trips = trips};
  segment.instructions = {
      {.kernel = 0, .label = "h.0.fc"}, {.kernel = 1, .label = "h.0.gelu"}, {.kernel = 0, .label = "head"}};
  out.segments = {segment};
  return out;
}

TraceSpan span_of(int64_t step, int32_t index, int64_t start_ms, int64_t end_ms, int64_t iteration = 0) {
  return {.step = step,
          .index = index,
          .iteration = iteration,
          .start_ns = start_ms * 1'000'000,
          .end_ns = end_ms * 1'000'000};
}

const Roofline kRoofline{
    .calls = {{.flops = 4e6, .bytes = 1e3}, {.flops = 1e3, .bytes = 2e6}}, .flops_per_s = 1e9, .bytes_per_s = 1e9};

TEST(StepProfile, SumsByOpAndByLayerBesideTheBound) {
  const std::vector<TraceSpan> spans{span_of(0, 0, 0, 5), span_of(0, 1, 6, 10), span_of(0, 2, 10, 18)};
  const StepProfile profile = make_profile(two_layers(), spans, kRoofline);
  EXPECT_EQ(profile.steps, 1);
  EXPECT_DOUBLE_EQ(profile.step_s, 0.018);
  EXPECT_NEAR(profile.between_s, 0.001, 1e-12);
  ASSERT_EQ(profile.ops.size(), 2u);
  EXPECT_EQ(profile.ops[0].name, "matmul");
  EXPECT_EQ(profile.ops[0].calls, 2);
  EXPECT_NEAR(profile.ops[0].seconds, 0.013, 1e-12);
  EXPECT_NEAR(profile.ops[0].bound_s, 0.008, 1e-12);
  EXPECT_NEAR(profile.ops[1].bound_s, 0.002, 1e-12) << "what it moves takes longer than what it computes";
  EXPECT_NEAR(profile.ops[1].share_of_bound(), 0.5, 1e-12);
  ASSERT_EQ(profile.layers.size(), 2u);
  EXPECT_EQ(profile.layers[0].name, "h.0");
  EXPECT_NEAR(profile.layers[0].seconds, 0.009, 1e-12);
  EXPECT_EQ(profile.layers[1].name, "head");
  EXPECT_NEAR(profile.total.seconds, 0.017, 1e-12);
}

TEST(StepProfile, TakesTheMedianOfEachInstructionOverTheSteps) {
  std::vector<TraceSpan> spans;
  for (const int64_t ms : {2, 30, 3}) spans.push_back(span_of(ms, 0, 100 * ms, 101 * ms));
  const StepProfile profile = make_profile(two_layers(), spans, kRoofline);
  EXPECT_EQ(profile.steps, 3);
  EXPECT_NEAR(profile.ops[0].seconds, 0.003, 1e-12);
}

TEST(StepProfile, AddsUpTheIterationsOfASegment) {
  const std::vector<TraceSpan> spans{span_of(0, 0, 0, 5, 0), span_of(0, 0, 5, 12, 1)};
  const StepProfile profile = make_profile(two_layers(2), spans, kRoofline);
  EXPECT_EQ(profile.ops[0].calls, 2);
  EXPECT_NEAR(profile.ops[0].seconds, 0.012, 1e-12);
  EXPECT_NEAR(profile.ops[0].flops, 8e6, 1);
}

TEST(StepProfile, ALayerEndsAtItsNumber) {
  EXPECT_EQ(layer_of("h.3.attn.c_attn.grad.2"), "h.3");
  EXPECT_EQ(layer_of("bert.encoder.layer.11.output.dense"), "bert.encoder.layer.11");
  EXPECT_EQ(layer_of("wte"), "wte");
  EXPECT_EQ(layer_of("ln_f.grad"), "ln_f");
  EXPECT_EQ(layer_of(""), "");
}

TEST(StepProfile, PrintsARowALine) {
  const std::vector<TraceSpan> spans{span_of(0, 0, 0, 5), span_of(0, 1, 6, 10), span_of(0, 2, 10, 18)};
  const StepProfile profile = make_profile(two_layers(), spans, kRoofline);
  std::istringstream lines(to_json_lines(profile));
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0]["op"], "matmul");
  EXPECT_NEAR(rows[0]["share"].get<double>(), 13.0 / 18, 1e-9);
  EXPECT_EQ(rows[2]["call"], "matmul f32[2,3] {transpose_b=true}");
  EXPECT_EQ(rows[4]["layer"], "h.0");
  EXPECT_NE(to_text(profile).find("a step: 18.0 ms (median of 1), of which 1.00 ms between instructions"),
            std::string::npos)
      << to_text(profile);
}

}  // namespace
}  // namespace plimsoll::report
