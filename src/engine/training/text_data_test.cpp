#include "engine/training/text_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/sentencepiece_training.h"
#include "engine/run_file/data_needs.h"
#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kVocab = 1000;

/// A token file with the ids first, first + 1, …, end - 1.
std::string write_ids(const std::string& name, int32_t first, int32_t end) {
  std::string path = testing::TempDir() + "/plimsoll_engine_" + name;
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU16).value();
  for (int32_t id = first; id < end; ++id) writer.try_append(std::vector<int32_t>{id}).value();
  writer.try_finish().value();
  return path;
}

Result<TextData> prepare(const RunConfig::Data& data,
                         const ModelChoice& model = {.name = "gpt2", .vocab_size = kVocab}) {
  RunConfig config;
  config.data = data;
  config.data.kind = "tokens";
  return try_prepare_text(config, testing::TempDir(), model, true, [](const std::string&, double) { return true; });
}

int32_t id_at(data::TokenSource& tokens, int64_t position) {
  int32_t id = 0;
  tokens.try_read(position, {&id, 1}).value();
  return id;
}

TEST(TextData, SetsTheEndOfATokenFileApart) {
  const std::string path = write_ids("tokens.bin", 0, 1000);
  const TextData data = prepare({.train = {path}, .validation_fraction = 0.1, .tokenizer = "none"}).value();
  EXPECT_EQ(data.train->size(), 900);
  EXPECT_EQ(data.validation->size(), 100);
  EXPECT_EQ(id_at(*data.train, 899), 899);
  EXPECT_EQ(id_at(*data.validation, 0), 900);
  EXPECT_EQ(id_at(*data.validation, 99), 999);
  EXPECT_EQ(prepare({.train = {path}, .validation_fraction = 0, .tokenizer = "none"}).value().validation, nullptr);
}

TEST(TextData, TakesTheValidationTokensThatAreNamed) {
  const std::string train = write_ids("train.bin", 0, 500), valid = write_ids("valid.bin", 500, 520);
  const TextData data =
      prepare({.train = {train}, .valid = {valid}, .validation_fraction = 0.1, .tokenizer = "none"}).value();
  EXPECT_EQ(data.train->size(), 500);
  EXPECT_EQ(data.validation->size(), 20);
  EXPECT_EQ(id_at(*data.validation, 0), 500);
}

/// A sentencepiece model of at most 300 pieces, trained on made-up lines.
std::string write_tokenizer() {
  const std::string text_path = testing::TempDir() + "/plimsoll_engine_lines.txt";
  std::ofstream text(text_path);
  for (int i = 0; i < 400; ++i) text << "ship " << i % 17 << " carries load " << i * i % 23 << "\n";
  text.close();
  const auto size = static_cast<int64_t>(std::filesystem::file_size(text_path));
  const std::string model =
      data::try_train_sentencepiece({.ranges = {{text_path, 0, size}}}, {.vocab_size = 300}).value();
  std::string path = testing::TempDir() + "/plimsoll_engine_tokenizer.model";
  std::ofstream(path, std::ios::binary) << model;
  return path;
}

TEST(TextData, KnowsTheTextOfTokensWhoseTokenizerIsNamed) {
  const std::string model = write_tokenizer();
  const int32_t vocab = data::try_load_tokenizer(model).value()->vocab_size();
  const std::string path = write_ids("named.bin", 0, vocab);
  const RunConfig::Data named{.train = {path}, .validation_fraction = 0.1, .tokenizer = model};
  const TextData data = prepare(named).value();
  ASSERT_NE(data.tokenizer, nullptr);
  EXPECT_EQ(data.tokenizer->vocab_size(), vocab);
  RunConfig config;
  config.data = named;
  config.data.kind = "tokens";
  EXPECT_EQ(try_find_data_needs(config).value().tokenizer_vocab, vocab);
  config.data.tokenizer = "none";
  EXPECT_EQ(try_find_data_needs(config).value().tokenizer_vocab, 0);
  EXPECT_EQ(prepare(config.data).value().tokenizer, nullptr);
  const auto outside = prepare({.train = {write_ids("outside.bin", 0, vocab + 2)}, .tokenizer = named.tokenizer});
  ASSERT_FALSE(outside.ok());
  const std::string id = std::to_string(vocab);
  EXPECT_NE(outside.error().message.find("id " + id + " at position " + id), std::string::npos)
      << outside.error().message;
}

TEST(TextData, RefusesTokensThatAreTooFewToSplit) {
  const auto data = prepare({.train = {write_ids("few.bin", 0, 1)}, .validation_fraction = 0.1, .tokenizer = "none"});
  ASSERT_FALSE(data.ok());
  EXPECT_EQ(data.error().message,
            "[tokens] 1 tokens cannot be split: a validation_fraction of 0.100000 leaves one side empty; give "
            "validation tokens");
}

TEST(TextData, TheLastIdsOfAMaskedModelAreNoTokens) {
  const ModelChoice bert{.name = "bert", .vocab_size = 103, .is_masked = true};
  const auto prepared = [&](int32_t end) {
    return prepare({.train = {write_ids("masked.bin", 0, end)}, .tokenizer = "none"}, bert);
  };
  EXPECT_TRUE(prepared(100).ok());
  const auto refused = prepared(101);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("'bert' keeps ids 100..102 for [CLS], [SEP] and [MASK]"));
  EXPECT_THAT(refused.error().message, testing::HasSubstr("id 100 at position 100"));
}

TEST(TextData, ATokenizerOfTokenFilesIsLoadedAndHasAllTheirIds) {
  const std::string path = write_ids("bytes.bin", 0, 256);
  const TextData data = prepare({.train = {path}, .validation_fraction = 0.25, .tokenizer = "bytes"}).value();
  ASSERT_NE(data.tokenizer, nullptr);
  const auto refused = prepare({.train = {write_ids("beyond.bin", 0, 257)}, .tokenizer = "bytes"});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("[data] tokenizer has 256 ids"));
  EXPECT_EQ(prepare({.train = {path}, .tokenizer = "none"}).value().tokenizer, nullptr);
}

TEST(TextData, AnIdThatTheTokenizerDoesNotHaveIsRefusedWhateverTheModelHas) {
  const std::string folder = testing::TempDir() + "/plimsoll_engine_ids";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/text.txt") << "hull and mark";
  std::filesystem::rename(write_ids("beyond_bytes.bin", 200, 300), folder + "/train.bin");
  RunConfig config;
  config.data.train = {folder + "/text.txt"};
  config.data.validation_fraction = 0;
  const auto quiet = [](const std::string&, double) { return true; };
  const auto refused = try_prepare_text(config, folder, {.name = "gpt2", .vocab_size = 2048}, true, quiet);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("id 256 at position 56 is outside the vocabulary of 256"));
  EXPECT_THAT(refused.error().message, testing::EndsWith("resuming makes it again from the text)"));
}

TEST(TextData, TextThatChangedIsNamedBeforeWhatIsMadeOfIt) {
  const std::string folder = testing::TempDir() + "/plimsoll_engine_changed";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  RunConfig config;
  config.data.train = {folder + "/text.txt"};
  config.data.validation_fraction = 0;
  const auto prepared = [&](const std::string& text) {
    std::ofstream(folder + "/text.txt") << text;
    return try_prepare_text(config, folder, {.name = "gpt2", .vocab_size = 256}, true,
                            [](const std::string&, double) { return true; })
        .value()
        .files;
  };
  const auto then = checksums_of(prepared("hull and mark"));
  EXPECT_TRUE(check_same_files(then, prepared("hull and mark")).ok());
  const auto changed = prepared("hull and line");
  EXPECT_THAT(check_same_files(then, changed).error().message,
              testing::StartsWith(folder + "/text.txt does not hold the training text that the run began with"));
  std::filesystem::remove(folder + "/train.bin");
  EXPECT_THAT(check_same_files(then, prepared("hull and line")).error().message, testing::HasSubstr("training text"));
}

TEST(TextData, TextIsComparedWithAByteModelAndSeparatedAsItSays) {
  const std::string folder = testing::TempDir() + "/plimsoll_engine_text";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/text");
  for (const char* name : {"a", "b", "c"}) std::ofstream(folder + "/text/" + name + ".txt") << "hull and mark " << name;
  RunConfig config;
  config.data.train = {folder + "/text"};
  config.data.validation_fraction = 0.34;
  config.data.separator = "<|end|>";
  const TextData data =
      try_prepare_text(config, folder, {.name = "gpt2", .vocab_size = 256}, true, [](const std::string&, double) {
        return true;
      }).value();
  EXPECT_EQ(data.train->size(), 2 * 15 + 7);
  std::vector<int32_t> ids(7);
  data.train->try_read(15, ids).value();
  EXPECT_EQ(data.tokenizer->decode(ids), "<|end|>");
  EXPECT_GT(data.baseline_bits_per_byte, 0);
  EXPECT_LT(data.baseline_bits_per_byte, 2);
}

}  // namespace
}  // namespace plimsoll::engine
