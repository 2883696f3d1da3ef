#include "data/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "data/test_text.h"

namespace plimsoll::data {
namespace {

constexpr auto kGoOn = [](int64_t, int64_t) { return true; };

TEST(Tokens, ATextBecomesAFileThatDecodesToIt) {
  const std::string text = made_up_text(3000);
  const std::string path = testing::TempDir() + "/plimsoll_data_text.bin";
  const auto tokenizer = make_byte_tokenizer();
  const TokenizedText done = try_tokenize(part_of(write_text("source.txt", text)), *tokenizer, path, kGoOn).value();
  EXPECT_EQ(done.text_bytes, std::ssize(text));
  EXPECT_EQ(done.tokens, std::ssize(text));

  auto tokens = try_open_tokens(formats::try_inspect_token_file(path, 256).value(), 256).value().tokens;
  std::vector<int32_t> ids(static_cast<size_t>(tokens->size()));
  tokens->try_read(0, ids).value();
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(try_count_bytes(*tokens, *tokenizer, 1, tokens->size()).value(), std::ssize(text) - 1);
  EXPECT_EQ(try_count_bytes(*tokens, *tokenizer, 1, 4).value(), 3);
}

TEST(Tokens, FilesAreKeptApartByTheTextsOwnSeparator) {
  TextPart both = part_of(write_text("first.txt", "first"));
  both.ranges.push_back(part_of(write_text("second.txt", "second")).ranges[0]);
  both.separator = "<|endoftext|>";
  const std::string path = testing::TempDir() + "/plimsoll_data_separated.bin";
  const auto tokenizer = make_byte_tokenizer();
  EXPECT_EQ(try_tokenize(both, *tokenizer, path, kGoOn).value().tokens, 24);
  auto tokens = try_open_tokens(formats::try_inspect_token_file(path, 256).value(), 256).value().tokens;
  std::vector<int32_t> ids(24);
  tokens->try_read(0, ids).value();
  EXPECT_EQ(tokenizer->decode(ids), "first<|endoftext|>second");
}

TEST(Tokens, AFileWithAnIdOutsideTheVocabularyDoesNotOpen) {
  const std::string path = testing::TempDir() + "/plimsoll_data_outside.bin";
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU32).value();
  writer.try_append(std::vector<int32_t>{3, 1, 256, 300}).value();
  writer.try_finish().value();
  const auto info = formats::try_inspect_token_file(path, 256).value();
  EXPECT_THAT(try_open_tokens(info, 256).error().message, testing::HasSubstr("id 256 at position 2"));
}

/// A token file with the ids 0, 1, …, count - 1.
std::shared_ptr<TokenSource> counted_tokens(int32_t count) {
  const std::string path = testing::TempDir() + "/plimsoll_data_counted.bin";
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU16).value();
  for (int32_t id = 0; id < count; ++id) writer.try_append(std::vector<int32_t>{id}).value();
  writer.try_finish().value();
  return try_open_tokens(formats::try_inspect_token_file(path, 1000).value(), 1000).value().tokens;
}

std::vector<int32_t> all_ids(TokenSource& tokens) {
  std::vector<int32_t> ids(static_cast<size_t>(tokens.size()));
  tokens.try_read(0, ids).value();
  return ids;
}

TEST(TokenSplit, SetsTheEndApartAndNoTokenTwice) {
  const std::shared_ptr<TokenSource> tokens = counted_tokens(200);
  for (const double fraction : {0.05, 0.25, 0.333, 0.99}) {
    const TokenSplit split = try_split_tokens(tokens, fraction).value();
    EXPECT_EQ(split.validation->size(), static_cast<int64_t>(std::ceil(200 * fraction - 1e-9)));
    std::vector<int32_t> both = all_ids(*split.train);
    EXPECT_EQ(std::ssize(both), split.train->size());
    const std::vector<int32_t> end = all_ids(*split.validation);
    both.insert(both.end(), end.begin(), end.end());
    EXPECT_EQ(both, all_ids(*tokens));
  }
  const TokenSplit split = try_split_tokens(tokens, 0.25).value();
  std::vector<int32_t> ids(2);
  split.validation->try_read(7, ids).value();
  EXPECT_EQ(ids, (std::vector<int32_t>{157, 158}));
}

TEST(TokenSplit, OfZeroKeepsAllForTraining) {
  const std::shared_ptr<TokenSource> tokens = counted_tokens(3);
  const TokenSplit split = try_split_tokens(tokens, 0).value();
  EXPECT_EQ(split.train, tokens);
  EXPECT_EQ(split.validation, nullptr);
}

TEST(TokenSplit, RefusesAFractionThatLeavesASideEmpty) {
  const std::shared_ptr<TokenSource> tokens = counted_tokens(3);
  EXPECT_EQ(try_split_tokens(tokens, 0.9).error().message,
            "[tokens] 3 tokens cannot be split: a validation_fraction of 0.900000 leaves one side empty; give "
            "validation tokens");
  EXPECT_THAT(try_split_tokens(tokens, 1).error().message, testing::HasSubstr("out of range"));
  EXPECT_THAT(try_split_tokens(tokens, -0.1).error().message, testing::HasSubstr("out of range"));
  EXPECT_EQ(try_split_tokens(tokens, 0.1).value().validation->size(), 1);
}

TEST(Tokens, StoppingLeavesNoFile) {
  const std::string path = testing::TempDir() + "/plimsoll_data_stopped.bin";
  std::filesystem::remove(path);
  const auto status = try_tokenize(part_of(write_text("stop.txt", "text")), *make_byte_tokenizer(), path,
                                   [](int64_t, int64_t) { return false; });
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace plimsoll::data
