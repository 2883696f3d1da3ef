#include "report/refusal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plimsoll::report {
namespace {

Error infeasible() {
  Infeasible why{.needed_bytes = 3 << 20, .budget_bytes = 2 << 20, .tightest_step = "h.1.mlp"};
  why.holders = {{"wte", 1 << 20}, {"h.1.mlp.fc", 1 << 19}};
  why.remedies = {{"--set train.batch_size=2", 1 << 20}, {"--set data.seq_len=32", 1 << 10}};
  return {ErrorCode::kInfeasible, "the step needs 3.00 MiB in host, the budget is 2.00 MiB",
          std::make_shared<Infeasible>(why)};
}

TEST(Refusal, SaysLeastBudgetHoldersAndWhatHelps) {
  EXPECT_EQ(to_text(infeasible()),
            "the step needs 3.00 MiB in host, the budget is 2.00 MiB\n"
            "  least budget    3.00 MiB (3145728 bytes)\n"
            "  given           2.00 MiB (2097152 bytes)\n"
            "  tightest step   h.1.mlp\n"
            "  largest there\n"
            "      1.00 MiB  wte\n"
            "       512 KiB  h.1.mlp.fc\n"
            "  what would help\n"
            "    --set train.batch_size=2: 1.00 MiB less, then 2.00 MiB (2097152 bytes), which fits\n"
            "    --set data.seq_len=32: 1.00 KiB less, then 3.00 MiB (3144704 bytes)\n");
}

TEST(Refusal, SaysWhereNothingIsEnoughByItself) {
  Infeasible why{.needed_bytes = 3 << 20, .budget_bytes = 1 << 20, .tightest_step = "loss"};
  why.remedies = {{"--seq 32", 1 << 20}};
  EXPECT_TRUE(to_text({ErrorCode::kInfeasible, "no", std::make_shared<Infeasible>(why)})
                  .ends_with("    --seq 32: 1.00 MiB less, then 2.00 MiB (2097152 bytes)\n"
                             "    none of these is enough\n"));
}

TEST(Refusal, NamesTheLargestHoldersAlone) {
  Infeasible why{.needed_bytes = 2, .budget_bytes = 1, .tightest_step = "loss"};
  for (int i = 0; i < 20; ++i) why.holders.push_back({"w" + std::to_string(i), 20 - i});
  const auto json = nlohmann::json::parse(to_json({ErrorCode::kInfeasible, "no", std::make_shared<Infeasible>(why)}));
  EXPECT_EQ(json["holders"].size(), 8u);
  EXPECT_EQ(json["holders"][7]["name"], "w7");
}

TEST(Refusal, JsonHasTheNumbers) {
  const auto json = nlohmann::json::parse(to_json(infeasible()));
  EXPECT_EQ(json["error"], "infeasible");
  EXPECT_EQ(json["needed_bytes"], 3 << 20);
  EXPECT_EQ(json["budget_bytes"], 2 << 20);
  EXPECT_EQ(json["holders"][0]["name"], "wte");
  EXPECT_EQ(json["remedies"][0]["saved_bytes"], 1 << 20);
}

TEST(Refusal, NoByteOfAMessageReachesTheTerminalAsACommand) {
  EXPECT_EQ(to_text(invalid_argument("no model 'a\n\x1b[2Jb'")), "no model 'a\\n\\x1b[2Jb'\n");
  EXPECT_LT(to_text(invalid_argument(std::string(100'000, 'a'))).size(), 2100u);
  const Error error = invalid_argument("a\n\x1b" + std::string(10'000, 'b'));
  EXPECT_EQ(nlohmann::json::parse(to_json(error))["message"], error.message) << "JSON is exact";
}

TEST(Refusal, OtherErrorsAreTheirMessage) {
  EXPECT_EQ(to_text(io_error("there is no file 'a'")), "there is no file 'a'\n");
  EXPECT_EQ(to_json(io_error("no file 'a\xff'")),
            "{\"event\":\"error\",\"error\":\"io\",\"message\":\"no file 'a\xEF\xBF\xBD'\"}");
}

}  // namespace
}  // namespace plimsoll::report
