#include "report/plan_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/sample_programs.h"

namespace plimsoll::report {
namespace {

plan::Plan sample_plan() {
  plan::Plan plan;
  plan.program = program::samples::single_segment();
  plan.state_bytes = 512;
  plan.step_bytes = 768;
  plan.step_lower_bound = 768;
  plan.arena_bytes = 1280;
  plan.tightest = {0, 1};
  plan.predicted_s = 0.25;
  plan.holders = {{"w", Category::kParameters, 512},
                  {"x", Category::kInput, 256},
                  {"y", Category::kActivations, 256},
                  {"fc.workspace", Category::kWorkspace, 250}};
  return plan;
}

TEST(PlanTable, ShowsCategoriesArenaAndHolders) {
  EXPECT_EQ(to_text(make_plan_table(sample_plan(), 2)),
            "plan of 'single': memory at the tightest step, 'fc'\n"
            "  parameters                   512 B  40.0 %\n"
            "  activations                  256 B  20.0 %\n"
            "  workspace                    250 B  19.5 %\n"
            "  input                        256 B  20.0 %\n"
            "  alignment                      6 B  0.5 %\n"
            "  arena                     1.25 KiB  = lower bound\n"
            "    state region               512 B\n"
            "    step region                768 B  lower bound 768 B\n"
            "largest at the tightest step\n"
            "       512 B  w  (parameters)\n"
            "       256 B  x  (input)\n"
            "predicted time of a step: 250 ms\n");
}

TEST(PlanTable, TitleSaysHowLargeTheModelIs) {
  PlanTable table = make_plan_table(sample_plan());
  table.name = "gpt2\n";
  table.parameters = 124'439'808;
  EXPECT_TRUE(to_text(table).starts_with("plan of 'gpt2\\n', 124 M parameters: memory at")) << to_text(table);
  EXPECT_EQ(nlohmann::json::parse(to_json(table))["parameters"], 124'439'808);
}

TEST(PlanTable, AddsWhatIsOutsideTheArena) {
  PlanTable table = make_plan_table(sample_plan(), 0);
  table.outside = {{"libraries", 1024}, {"data", 720}};
  table.budget = Bytes{4096};
  EXPECT_EQ(table.process_bytes(), 3024);
  const std::string text = to_text(table);
  EXPECT_NE(text.find("  libraries                 1.00 KiB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  process                   2.95 KiB  budget 4.00 KiB\n"), std::string::npos) << text;
}

TEST(PlanTable, SaysTheLeastBudgetWhereThePlanTakesMore) {
  PlanTable table = make_plan_table(sample_plan(), 0);
  table.outside = {{"runtime", 1024}, {"more for the byte model", 720}};
  table.least_bytes = 2304;
  EXPECT_NE(to_text(table).find("  least budget              2.25 KiB\n"), std::string::npos) << to_text(table);
  EXPECT_EQ(nlohmann::json::parse(to_json(table))["least_budget_bytes"], 2304);
  table.least_bytes = table.process_bytes();
  EXPECT_EQ(to_text(table).find("least budget"), std::string::npos) << "it is the line above";
}

TEST(PlanTable, JsonIsOneLineWithEveryNumber) {
  PlanTable table = make_plan_table(sample_plan());
  table.outside = {{"data", 720}};
  const std::string line = to_json(table);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["event"], "plan");
  EXPECT_TRUE(json["parameters"].is_null());
  EXPECT_EQ(json["category_bytes"]["activations"], 256);
  EXPECT_EQ(json["arena_bytes"], 1280);
  EXPECT_EQ(json["arena_lower_bound"], 1280);
  EXPECT_EQ(json["process_bytes"], 2000);
  EXPECT_TRUE(json["least_budget_bytes"].is_null());
  EXPECT_TRUE(json["budget_bytes"].is_null());
  EXPECT_EQ(json["tightest_step"], "fc");
  EXPECT_EQ(json["holders"].size(), 4);
  EXPECT_EQ(json["holders"][3]["category"], "workspace");
  EXPECT_EQ(json["predicted_s"], 0.25);
}

TEST(PlanTable, PlanWithoutInstructionsHasNoTightestStep) {
  EXPECT_EQ(make_plan_table(plan::Plan{}).tightest_step, "");
}

}  // namespace
}  // namespace plimsoll::report
