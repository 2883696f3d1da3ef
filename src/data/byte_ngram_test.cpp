#include "data/byte_ngram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/test_text.h"
#include "data/word_share.h"

namespace plimsoll::data {
namespace {

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
  EXPECT_EQ(whole.memory_bytes(), pieces.memory_bytes());
  for (size_t i = 0; i + 1 < 500; ++i) {
    const std::string_view context = std::string_view(text).substr(0, i);
    EXPECT_EQ(whole.probability(context, static_cast<unsigned char>(text[i])),
              pieces.probability(context, static_cast<unsigned char>(text[i])));
  }
}

TEST(ByteNgram, GivesFewBitsWhereTextRepeats) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "abcd";
  const TextPart part = part_of(write_text("repeats.txt", text));
  const ByteNgram model = try_train_byte_ngram(part).value();
  EXPECT_LT(try_bits_per_byte(model, part).value(), 0.01);
  EXPECT_NEAR(try_bits_per_byte(ByteNgram(), part).value(), 8, 1e-9);
  EXPECT_FALSE(try_bits_per_byte(model, {}).ok());
}

TEST(WordShare, CountsTheWordsThatTheTextHolds) {
  const WordSet corpus =
      try_collect_words(part_of(write_text("words.txt", "The sea is open(2), O_RDONLY 42 na\xC3\xAFve"))).value();
  EXPECT_EQ(corpus.size(), 6);
  const WordShare share = count_known_words(corpus, "sea the O_RDONLY opens open(99) na\xC3\xAFve is cu");
  EXPECT_EQ(share.words, 7);
  EXPECT_EQ(share.known, 5);
  EXPECT_EQ(count_known_words(corpus, "lf sea ", true).words, 1);
  EXPECT_EQ(count_known_words(corpus, "").share(), 0);
}

TEST(WordShare, AWordMayGoOnInTheNextCall) {
  WordSet words;
  words.add("to");
  words.add("gether apart");
  words.finish();
  EXPECT_TRUE(words.contains("together"));
  EXPECT_FALSE(words.contains("to"));
  EXPECT_TRUE(words.contains("apart"));
}

TEST(WordShare, ManyRepeatsTakeNoMemory) {
  WordSet words;
  for (int i = 0; i < 300'000; ++i) words.add(i % 2 == 0 ? "one " : "two ");
  words.finish();
  EXPECT_EQ(words.size(), 2);
}

}  // namespace
}  // namespace plimsoll::data
