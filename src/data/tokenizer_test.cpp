#include "data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/philox.h"
#include "data/sentencepiece_text.h"
#include "data/sentencepiece_training.h"
#include "data/test_text.h"

namespace plimsoll::data {
namespace {

using testing::HasSubstr;

const std::string& trained_model() {
  static const std::string model =
      try_train_sentencepiece(part_of(write_text("tokenizer.txt", made_up_text(3000))), {.vocab_size = 600}).value();
  return model;
}

std::string round_trip(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  tokenizer.encode(text, ids);
  EXPECT_EQ(tokenizer.count_bytes(ids), std::ssize(text));
  for (int32_t id : ids) EXPECT_TRUE(id >= 0 && id < tokenizer.vocab_size());
  return tokenizer.decode(ids);
}

std::string random_bytes(uint64_t seed, size_t count) {
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) bytes += static_cast<char>(Philox(seed)(i, 0)[0]);
  return bytes;
}

TEST(ByteTokenizer, KeepsEveryByte) {
  const auto tokenizer = make_byte_tokenizer();
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  EXPECT_EQ(round_trip(*tokenizer, random_bytes(1, 4000)), random_bytes(1, 4000));
}

TEST(SentencepieceTokenizer, KeepsEveryText) {
  const auto tokenizer = try_parse_sentencepiece(trained_model(), "model").value();
  const std::string all_marks =
      "a\xE2\x96\x81"
      "b\xE2\x96\x85"
      "c<0x41><unk>";
  for (const std::string& text :
       {std::string(""), std::string("\n"), std::string("\n\n\n   x"), std::string("  two  words  \n\n\ttab\r\n"),
        std::string("caf\xC3\xA9 \xEF\xAC\x81 \xF0\x9F\x9A\xA2"), std::string("\0\x01\f\x7F", 4), all_marks,
        std::string(10'000, ' '), std::string(9'999, 'x'), made_up_text(50)}) {
    EXPECT_EQ(round_trip(*tokenizer, text), text);
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(round_trip(*tokenizer, random_bytes(seed, 500)), random_bytes(seed, 500)) << seed;
  }
}

TEST(SentencepieceTokenizer, TakesFewerIdsThanBytes) {
  const auto tokenizer = try_parse_sentencepiece(trained_model(), "model").value();
  const std::string text = made_up_text(200);
  std::vector<int32_t> ids;
  tokenizer->encode(text, ids);
  EXPECT_LT(ids.size() * 2, text.size());
}

TEST(SentencepieceTokenizer, CutsTheSameWhetherTextComesWholeOrByLines) {
  const auto tokenizer = try_parse_sentencepiece(trained_model(), "model").value();
  const std::string text = made_up_text(100);
  std::vector<int32_t> whole;
  tokenizer->encode(text, whole);
  std::vector<int32_t> by_lines;
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = first_line(rest);
    tokenizer->encode(line, by_lines);
    rest.remove_prefix(line.size());
  }
  EXPECT_EQ(whole, by_lines);
}

TEST(SentencepieceTokenizer, IsTheSameAfterSavingAndLoading) {
  const std::string path = write_text("saved.model", trained_model());
  const auto tokenizer = try_load_tokenizer(path).value();
  EXPECT_EQ(tokenizer->serialize(), trained_model());
  EXPECT_EQ(try_load_tokenizer("bytes").value()->vocab_size(), 256);
}

TEST(SentencepieceTokenizer, RefusesWhatIsNoModel) {
  testing::internal::CaptureStderr();
  EXPECT_THAT(try_load_tokenizer("/absent.model").error().message, HasSubstr("No such file"));
  EXPECT_THAT(try_parse_sentencepiece("", "empty.model").error().message, HasSubstr("no sentencepiece model"));
  EXPECT_THAT(try_parse_sentencepiece("plain text", "x.model").error().message, HasSubstr("no sentencepiece model"));
  const auto cut = try_parse_sentencepiece(trained_model().substr(0, trained_model().size() / 2), "cut.model");
  EXPECT_FALSE(cut.ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(SentencepieceTraining, IsQuietAndGivesTheSameModelAgain) {
  const auto text = part_of(write_text("again.txt", made_up_text(3000)));
  testing::internal::CaptureStderr();
  const std::string again = try_train_sentencepiece(text, {.vocab_size = 600}).value();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(again, trained_model());
}

// What is booked lies above each peak that was measured: see sentencepiece_training_bytes.
TEST(SentencepieceTraining, BooksMoreThanWasMeasured) {
  const auto booked = [](int32_t vocab, int64_t text_bytes) {
    return static_cast<double>(sentencepiece_training_bytes({.vocab_size = vocab, .text_bytes = text_bytes})) /
           (1 << 20);
  };
  EXPECT_NEAR(booked(512, 2 << 20), 87.25, 0.1);
  EXPECT_NEAR(booked(2048, 2 << 20), 88, 0.1);
  EXPECT_NEAR(booked(32'000, 2 << 20), 102.6, 0.1);
  EXPECT_NEAR(booked(2048, 256 << 10), 53.5, 0.1);
}

TEST(SentencepieceTraining, SmallTextsGiveSmallVocabulariesOrAReason) {
  const auto tiny = try_train_sentencepiece(part_of(write_text("tiny.txt", "some words and some more words\n")), {});
  if (tiny.ok()) {
    EXPECT_EQ(round_trip(*try_parse_sentencepiece(*tiny, "tiny").value(), "other text"), "other text");
  } else {
    EXPECT_THAT(tiny.error().message, HasSubstr("more text"));
  }
  EXPECT_THAT(try_train_sentencepiece({}, {}).error().message, HasSubstr("no text"));
  EXPECT_THAT(try_train_sentencepiece({}, {.vocab_size = 9}).error().message, HasSubstr("vocab_size 9"));
}

}  // namespace
}  // namespace plimsoll::data
