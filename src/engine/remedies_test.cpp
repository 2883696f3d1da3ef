#include "engine/remedies.h"

#include <gtest/gtest.h>

namespace plimsoll::engine {
namespace {

/// By a budget that the best single change meets, unless another is given.
Error refused(int64_t needed_bytes, int64_t budget_bytes = 1 << 20) {
  auto why = std::make_shared<Infeasible>();
  why->needed_bytes = needed_bytes;
  why->budget_bytes = budget_bytes;
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
                std::string text;
                if (other.batch != size.batch)
                  text += " batch " + std::to_string(other.batch) + " x " + std::to_string(other.microbatches);
                if (other.seq != size.seq) text += " seq " + std::to_string(other.seq);
                if (other.optimizer != size.optimizer) text += " " + other.optimizer;
                return text.empty() ? text : text.substr(1);
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

TEST(Remedies, WhereNoneIsEnoughAsManyTogetherAsItTakesComeFirst) {
  const Job job = make_job({.batch = 8, .microbatches = 3, .seq = 16});
  const auto two = with_remedies(refused(146, 30), job).infeasible->remedies;
  ASSERT_EQ(two.size(), 4u);
  EXPECT_EQ(two[0].option, "batch 1 x 24 sgd");
  EXPECT_EQ(two[0].saved_bytes, 120);
  EXPECT_EQ(two[1].option, "batch 1 x 24");
  const auto all = with_remedies(refused(146, 10), job).infeasible->remedies;
  EXPECT_EQ(all[0].option, "batch 1 x 24 seq 8 sgd") << "all of them, though that is not enough either";
  EXPECT_EQ(all[0].saved_bytes, 128);
}

TEST(Remedies, InTheWordsOfARunFile) {
  const JobSize now{.batch = 8, .microbatches = 2, .seq = 64, .tokenizer = "sentencepiece"};
  EXPECT_EQ(run_file_options(now, now), "");
  EXPECT_EQ(
      run_file_options(now, {.batch = 1, .microbatches = 16, .seq = 32, .optimizer = "sgd", .tokenizer = "bytes"}),
      "--set train.batch_size=1 --set train.accumulate=16 --set data.seq_len=32 --set optimizer.name=sgd --set "
      "data.tokenizer=bytes");
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
