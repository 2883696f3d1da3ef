#include "data/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  const auto info = formats::try_inspect_token_file(path, 256).value();
  for (TokenPlace place : {TokenPlace::kMemory, TokenPlace::kFile}) {
    auto tokens = try_open_tokens(info, 256, place).value();
    EXPECT_EQ(tokens->memory_bytes(), token_memory_bytes(info, place));
    std::vector<int32_t> ids(static_cast<size_t>(tokens->size()));
    tokens->try_read(0, ids).value();
    EXPECT_EQ(tokenizer->decode(ids), text);
    EXPECT_EQ(try_count_bytes(*tokens, *tokenizer, 1).value(), std::ssize(text) - 1);
  }
  EXPECT_EQ(token_memory_bytes(info, TokenPlace::kMemory), 2 * std::ssize(text));
}

TEST(Tokens, AFileWithAnIdOutsideTheVocabularyDoesNotOpen) {
  const std::string path = testing::TempDir() + "/plimsoll_data_outside.bin";
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU32).value();
  writer.try_append(std::vector<int32_t>{3, 1, 256, 300}).value();
  writer.try_finish().value();
  const auto info = formats::try_inspect_token_file(path, 256).value();
  for (TokenPlace place : {TokenPlace::kMemory, TokenPlace::kFile}) {
    EXPECT_THAT(try_open_tokens(info, 256, place).error().message, testing::HasSubstr("id 256 at position 2"));
  }
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
