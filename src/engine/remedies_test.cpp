#include "engine/remedies.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

Error refused(int64_t needed_bytes) {
  auto why = std::make_shared<Infeasible>();
  why->needed_bytes = needed_bytes;
  return {ErrorCode::kInfeasible, "too much", why};
}

/// A job that needs 10 bytes a sample, 1 a token, and 50 for moments.
Job make_job(const JobSize& size) {
  return {.size = size,
          .needed_bytes = [](const JobSize& other) -> Result<int64_t> {
            return other.batch * 10 + other.seq + (other.optimizer == "sgd" ? 0 : 50);
          },
          .option =
              [size](const JobSize& other) {
                if (other.batch != size.batch)
                  return "batch " + std::to_string(other.batch) + " x " + std::to_string(other.microbatches);
                return other.seq != size.seq ? "seq " + std::to_string(other.seq) : other.optimizer;
              }};
}

TEST(Remedies, LargestSavingFirstAsPlanned) {
  const Error error = with_remedies(refused(146), make_job({.batch = 8, .microbatches = 3, .seq = 16}));
  const auto& remedies = error.infeasible->remedies;
  ASSERT_EQ(remedies.size(), 3u);
  EXPECT_EQ(remedies[0].option, "batch 1 x 24");
  EXPECT_EQ(remedies[0].saved_bytes, 70);
  EXPECT_EQ(remedies[1].option, "sgd");
  EXPECT_EQ(remedies[1].saved_bytes, 50);
  EXPECT_EQ(remedies[2].option, "seq 8");
  EXPECT_EQ(remedies[2].saved_bytes, 8);
}

TEST(Remedies, LeaveOutWhatSavesNothingOrCannotBeAsked) {
  Job job = make_job({.batch = 2, .seq = 64, .optimizer = "sgd", .tokenizer = "sentencepiece"});
  job.option = [](const JobSize& other) { return other.seq == 32 ? "seq" : ""; };
  EXPECT_EQ(with_remedies(refused(84), job).infeasible->remedies.size(), 1u);
  EXPECT_TRUE(with_remedies(refused(52), job).infeasible->remedies.empty());
}

TEST(Remedies, OtherErrorsStayAsTheyAre) {
  EXPECT_EQ(with_remedies(io_error("no file"), make_job({.batch = 8})).infeasible, nullptr);
}

}  // namespace
}  // namespace plimsoll::engine
