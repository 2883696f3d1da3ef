#include "data/byte_ngram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/philox.h"
#include "data/test_text.h"

namespace plimsoll::data {
namespace {

constexpr auto kGoOn = [](int64_t, int64_t) { return true; };
constexpr auto kStop = [](int64_t, int64_t) { return false; };

double sum_of(const ByteNgram& model, std::string_view context) {
  double sum = 0;
  for (int next = 0; next < 256; ++next) sum += model.probability(context, static_cast<unsigned char>(next));
  return sum;
}

TEST(ByteNgram, ProbabilitiesSumToOne) {
  ByteNgram model;
  EXPECT_NEAR(sum_of(model, ""), 1, 1e-12);
  model.train(made_up_text(300));
  for (const char* context : {"", "t", "th", "the", "longer than three", "zzz", "\xFF\xFE\xFD", "zzt", "a\n "}) {
    EXPECT_NEAR(sum_of(model, context), 1, 1e-12) << context;
  }
}

// "abab" by hand: behind nothing, 4 bytes of 2 kinds: P(b) = (2 + 2/256) / 6. Behind a, b twice, 1 kind:
// P(b | a) = (2 + P(b)) / 3; behind ba, b once: (1 + P(b | a)) / 2; behind aba, b once: (1 + P(b | ba)) / 2.
TEST(ByteNgram, FollowsWittenAndBell) {
  ByteNgram model;
  model.train("abab");
  const double p0 = (2 + 2.0 / 256) / 6;
  const double p1 = (2 + p0) / 3;
  const double p2 = (1 + p1) / 2;
  const double p3 = (1 + p2) / 2;
  EXPECT_DOUBLE_EQ(model.probability("", 'b'), p0);
  EXPECT_DOUBLE_EQ(model.probability("a", 'b'), p1);
  EXPECT_DOUBLE_EQ(model.probability("aba", 'b'), p3);
  EXPECT_DOUBLE_EQ(model.probability("xaba", 'b'), p3);
  EXPECT_DOUBLE_EQ(model.probability("xxa", 'b'), p1);
  EXPECT_DOUBLE_EQ(model.probability("", 'z'), (2.0 / 256) / 6);
}

TEST(ByteNgram, TrainingByPiecesIsTrainingOnTheWhole) {
  const std::string text = made_up_text(100);
  ByteNgram whole;
  whole.train(text);
  ByteNgram pieces;
  for (size_t i = 0; i < text.size(); i += 7) pieces.train(std::string_view(text).substr(i, 7));
  for (size_t i = 0; i + 1 < 500; ++i) {
    const std::string_view context = std::string_view(text).substr(0, i);
    EXPECT_EQ(whole.probability(context, static_cast<unsigned char>(text[i])),
              pieces.probability(context, static_cast<unsigned char>(text[i])));
  }
}

// A table of 32 slots takes 21 strings, 4 of them short ones; the text has hundreds.
TEST(ByteNgram, AFullTableStillGivesProbabilitiesThatSumToOne) {
  ByteNgram model(1024);
  model.train(made_up_text(300));
  for (const char* context : {"", "t", "th", "the", "sea", "zzz", "a\n "}) {
    EXPECT_NEAR(sum_of(model, context), 1, 1e-12) << context;
  }
  // What came first is counted: the text starts with a line end.
  EXPECT_GT(model.probability("", '\n'), 1.0 / 256);
}

// 2^20 slots take 568,000 long strings; random bytes have 2 million.
TEST(ByteNgram, ShortStringsAreCountedWhenLongOnesHaveFilledTheTable) {
  ByteNgram model;
  std::string noise;
  for (uint64_t i = 0; i < 1'000'000; ++i) noise += static_cast<char>(Philox(3)(i, 0)[0] % 128);
  model.train(noise);
  std::string late;
  for (int i = 0; i < 2000; ++i) late += "\xE2\x9A\x93";
  model.train(late);
  EXPECT_GT(model.probability("\xE2", 0x9A), 0.99);
  EXPECT_NEAR(sum_of(model, "\xE2\x9A"), 1, 1e-9);
}

TEST(ByteNgram, StopsWhereItIsTold) {
  const TextPart part = part_of(write_text("stopped_model.txt", "some text"));
  EXPECT_EQ(try_train_byte_ngram(part, kStop).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(try_bits_per_byte(ByteNgram(), part, kStop).error().code, ErrorCode::kCancelled);
}

TEST(ByteNgram, GivesFewBitsWhereTextRepeats) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "abcd";
  const TextPart part = part_of(write_text("repeats.txt", text));
  const ByteNgram model = try_train_byte_ngram(part, kGoOn).value();
  EXPECT_LT(try_bits_per_byte(model, part, kGoOn).value(), 0.01);
  EXPECT_NEAR(try_bits_per_byte(ByteNgram(), part, kGoOn).value(), 8, 1e-9);
  EXPECT_FALSE(try_bits_per_byte(model, {}, kGoOn).ok());
}

}  // namespace
}  // namespace plimsoll::data
