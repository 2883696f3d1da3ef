#include "data/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "data/permutation.h"

namespace plimsoll::data {
namespace {

using testing::HasSubstr;

// The ids 0, 1, 2, …: a token says where it stood.
class CountingTokens : public TokenSource {
 public:
  explicit CountingTokens(int64_t count) : count_(count) {}
  int64_t size() const override { return count_; }
  Status try_read(int64_t first, std::span<int32_t> ids) override {
    EXPECT_TRUE(first >= 0 && first + std::ssize(ids) <= count_) << first;
    std::iota(ids.begin(), ids.end(), static_cast<int32_t>(first));
    return {};
  }

 private:
  int64_t count_;
};

std::shared_ptr<TokenSource> counting_tokens(int64_t count) { return std::make_shared<CountingTokens>(count); }

using Arrays = std::vector<std::vector<int32_t>>;

Arrays fill(BatchSource& source, int64_t first, int64_t count) {
  Arrays arrays;
  std::vector<std::span<int32_t>> spans;
  for (const BatchField& field : source.fields()) arrays.emplace_back(static_cast<size_t>(count * field.width), -7);
  for (auto& array : arrays) spans.emplace_back(array);
  source.try_fill(first, count, spans).value();
  return arrays;
}

int64_t count_targets(const std::vector<int32_t>& targets) {
  return std::count_if(targets.begin(), targets.end(), [](int32_t t) { return t != kIgnoreIndex; });
}

TEST(Permutation, IsABijectionForEverySize) {
  for (int64_t size : {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097}) {
    const Permutation order(size, 11, 3);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < size; ++i) seen.insert(order(i));
    EXPECT_EQ(std::ssize(seen), size);
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), size - 1);
  }
}

TEST(Permutation, DependsOnSeedAndEpochAndMovesThingsAbout) {
  const auto list = [](uint64_t seed, uint64_t epoch) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 1000; ++i) values.push_back(Permutation(1000, seed, epoch)(i));
    return values;
  };
  EXPECT_EQ(list(1, 0), list(1, 0));
  EXPECT_NE(list(1, 0), list(1, 1));
  EXPECT_NE(list(1, 0), list(2, 0));
  // In a random order a neighbour stays next to its neighbour with probability 2 / 1000.
  const auto values = list(1, 0);
  int neighbours = 0;
  for (size_t i = 1; i < values.size(); ++i) neighbours += std::abs(values[i] - values[i - 1]) == 1;
  EXPECT_LT(neighbours, 12);
}

TEST(Permutation, SpreadsEveryPositionOverAllIndices) {
  // Position 0 of 8 over 8,000 epochs: 1,000 each, 30 the standard deviation.
  std::array<int, 8> hits{};
  for (uint64_t epoch = 0; epoch < 8000; ++epoch) ++hits[static_cast<size_t>(Permutation(8, 5, epoch)(0))];
  for (int hit : hits) EXPECT_NEAR(hit, 1000, 180);
}

TEST(CausalBatches, AnEpochHoldsEveryWindowOnceWithTargetsOneAhead) {
  const auto source = try_make_causal_batches(counting_tokens(1001), {.batch = 4, .seq = 10, .seed = 3}).value();
  ASSERT_EQ(source->samples(), 100);
  const Arrays arrays = fill(*source, 0, 100);
  std::vector<int32_t> tokens = arrays[0];
  for (size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(arrays[1][i], tokens[i] + 1);
  std::sort(tokens.begin(), tokens.end());
  for (size_t i = 0; i < tokens.size(); ++i) EXPECT_EQ(tokens[i], static_cast<int32_t>(i));
  EXPECT_EQ(source->count_valid(0, 4), 40);
}

TEST(CausalBatches, ResumeInAnEpochsMiddleGivesTheSameBatches) {
  const auto run = try_make_causal_batches(counting_tokens(500), {.batch = 8, .seq = 7, .seed = 9}).value();
  const Arrays whole = fill(*run, 0, 3 * run->samples());
  const auto resumed = try_make_causal_batches(counting_tokens(500), {.batch = 8, .seq = 7, .seed = 9});
  for (int64_t first = 13; first + 8 < 3 * run->samples(); first += 8) {
    const Arrays part = fill(**resumed, first, 8);
    EXPECT_TRUE(std::equal(part[0].begin(), part[0].end(), whole[0].begin() + first * 7));
    EXPECT_TRUE(std::equal(part[1].begin(), part[1].end(), whole[1].begin() + first * 7));
  }
  EXPECT_EQ(to_cursor(run->samples() + 5, run->samples()), (Cursor{1, 5}));
}

TEST(CausalBatches, RefusesMoreThanTheDataHolds) {
  const auto message = [](int64_t batch, int64_t seq) {
    auto made = try_make_causal_batches(counting_tokens(100), {.batch = batch, .seq = seq});
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_EQ(message(9, 11), "");
  EXPECT_THAT(message(10, 10), HasSubstr("batch 10 x seq 10 needs more than 100 tokens, the training data has 100"));
  EXPECT_THAT(message(0, 10), HasSubstr("must be 1 or more"));
  EXPECT_THAT(message(int64_t{1} << 40, int64_t{1} << 40), HasSubstr("no larger than the data"));
}

TEST(EvaluationBatches, CountEveryTargetOnceInOrder) {
  for (const int size : {1001, 995, 11, 5, 2}) {
    const auto source = try_make_evaluation_batches(counting_tokens(size), 10).value();
    const int64_t padded = source->samples() + 3;
    const Arrays arrays = fill(*source, 0, padded);
    std::vector<int32_t> targets;
    for (size_t i = 0; i < arrays[1].size(); ++i) {
      if (arrays[1][i] == kIgnoreIndex) continue;
      EXPECT_EQ(arrays[1][i], arrays[0][i] + 1);
      targets.push_back(arrays[1][i]);
    }
    ASSERT_EQ(std::ssize(targets), size - 1);
    for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(targets[i], static_cast<int32_t>(i) + 1);
    EXPECT_EQ(source->count_valid(0, padded), size - 1);
    for (int64_t i = 0; i < padded; ++i) {
      EXPECT_EQ(source->count_valid(i, 1), count_targets(fill(*source, i, 1)[1]));
    }
  }
}

TEST(EvaluationBatches, RefusesTooLittleData) {
  EXPECT_THAT(try_make_evaluation_batches(counting_tokens(1), 4).error().message, HasSubstr("2 or more"));
  EXPECT_THAT(try_make_evaluation_batches(counting_tokens(9), 0).error().message, HasSubstr("seq 0"));
}

constexpr MaskedOptions kMasked{
    .batch = 4, .seq = 67, .seed = 5, .vocab_size = 6401, .cls_id = 9001, .sep_id = 9002, .mask_id = 9003};

TEST(MaskedBatches, HideTheTokensThatTargetsHold) {
  const auto source = try_make_masked_batches(counting_tokens(6401), kMasked).value();
  ASSERT_EQ(source->samples(), 100);
  const int64_t count = 1000;
  const Arrays arrays = fill(*source, 0, count);
  std::map<std::string, int> kinds;
  for (int64_t sample = 0; sample < count; ++sample) {
    const int32_t* tokens = &arrays[0][static_cast<size_t>(sample * 67)];
    const int32_t* targets = &arrays[2][static_cast<size_t>(sample * 67)];
    EXPECT_EQ(tokens[0], 9001);
    EXPECT_EQ(tokens[33], 9002);
    EXPECT_EQ(tokens[66], 9002);
    for (int i = 0; i < 67; ++i) {
      EXPECT_EQ(arrays[1][static_cast<size_t>(sample * 67 + i)], i > 33);
      const bool is_target = targets[i] != kIgnoreIndex;
      ++kinds[!is_target ? "kept" : tokens[i] == 9003 ? "masked" : tokens[i] == targets[i] ? "same" : "random"];
      EXPECT_LT(targets[i], 6401);
    }
  }
  const double chosen = kinds["masked"] + kinds["same"] + kinds["random"];
  EXPECT_NEAR(chosen / (64 * count), 0.15, 0.006);
  EXPECT_NEAR(kinds["masked"] / chosen, 0.8, 0.02);
  EXPECT_NEAR(kinds["random"] / chosen, 0.1, 0.015);
  EXPECT_EQ(source->count_valid(0, count), count_targets(arrays[2]));
  EXPECT_NEAR(static_cast<double>(std::accumulate(arrays[3].begin(), arrays[3].end(), 0)), 500, 80);
}

// With every token kept readable (nothing hidden), B follows A exactly where the label says so.
TEST(MaskedBatches, TheSecondSentenceFollowsWhereTheLabelSaysSo) {
  MaskedOptions options = kMasked;
  options.mask_share = 1e-9;
  const auto source = try_make_masked_batches(counting_tokens(6401), options).value();
  const Arrays arrays = fill(*source, 0, 300);
  for (size_t sample = 0; sample < 300; ++sample) {
    const bool follows = arrays[0][sample * 67 + 34] == arrays[0][sample * 67 + 32] + 1;
    EXPECT_EQ(arrays[3][sample], follows ? 0 : 1);
  }
}

TEST(MaskedBatches, EachEpochMasksAnewAndASampleStaysAsItIs) {
  const auto source = try_make_masked_batches(counting_tokens(6401), kMasked).value();
  EXPECT_EQ(fill(*source, 42, 3), fill(*source, 42, 3));
  const Arrays whole = fill(*source, 40, 8);
  EXPECT_TRUE(std::equal(whole[0].begin() + 2 * 67, whole[0].begin() + 5 * 67, fill(*source, 42, 3)[0].begin()));
}

TEST(MaskedBatches, EvaluationEndsInIgnoredSamples) {
  MaskedOptions options = kMasked;
  options.is_evaluation = true;
  const auto source = try_make_masked_batches(counting_tokens(6401), options).value();
  const Arrays arrays = fill(*source, 99, 3);
  EXPECT_EQ(source->count_valid(99, 3), count_targets(arrays[2]));
  EXPECT_EQ(source->count_valid(100, 2), 0);
  EXPECT_EQ(arrays[3][1], kIgnoreIndex);
}

TEST(MaskedBatches, RefusesSettingsThatMakeNoSense) {
  const auto message = [](auto change) {
    MaskedOptions options = kMasked;
    change(options);
    return try_make_masked_batches(counting_tokens(500), options).error().message;
  };
  EXPECT_THAT(message([](auto& o) { o.seq = 4; }), HasSubstr("seq 4"));
  EXPECT_THAT(message([](auto& o) { o.batch = 100; }), HasSubstr("500 tokens"));
  EXPECT_THAT(message([](auto& o) { o.mask_share = 0; }), HasSubstr("mask_share"));
  EXPECT_THAT(message([](auto& o) { o.vocab_size = 0; }), HasSubstr("vocab_size"));
}

}  // namespace
}  // namespace plimsoll::data
