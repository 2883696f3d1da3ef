#include "engine/text_data.h"

#include <gtest/gtest.h>

#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kVocab = 1000;

/// A token file with the ids first, first + 1, …, end - 1.
std::string write_ids(const std::string& name, int32_t first, int32_t end) {
  const std::string path = testing::TempDir() + "/plimsoll_engine_" + name;
  auto writer = formats::TokenFileWriter::try_create(path, DType::kU16).value();
  for (int32_t id = first; id < end; ++id) writer.try_append(std::vector<int32_t>{id}).value();
  writer.try_finish().value();
  return path;
}

Result<TextData> prepare(const RunConfig::Data& data) {
  RunConfig config;
  config.data = data;
  config.data.kind = "tokens";
  return try_prepare_text(config, testing::TempDir(), kVocab, [](const std::string&, double) { return true; });
}

int32_t id_at(data::TokenSource& tokens, int64_t position) {
  int32_t id = 0;
  tokens.try_read(position, {&id, 1}).value();
  return id;
}

TEST(TextData, SetsTheEndOfATokenFileApart) {
  const std::string path = write_ids("tokens.bin", 0, 1000);
  const TextData data = prepare({.train = {path}, .validation_fraction = 0.1}).value();
  EXPECT_EQ(data.train->size(), 900);
  EXPECT_EQ(data.validation->size(), 100);
  EXPECT_EQ(id_at(*data.train, 899), 899);
  EXPECT_EQ(id_at(*data.validation, 0), 900);
  EXPECT_EQ(id_at(*data.validation, 99), 999);
  EXPECT_EQ(prepare({.train = {path}, .validation_fraction = 0}).value().validation, nullptr);
}

TEST(TextData, TakesTheValidationTokensThatAreNamed) {
  const std::string train = write_ids("train.bin", 0, 500), valid = write_ids("valid.bin", 500, 520);
  const TextData data = prepare({.train = {train}, .valid = {valid}, .validation_fraction = 0.1}).value();
  EXPECT_EQ(data.train->size(), 500);
  EXPECT_EQ(data.validation->size(), 20);
  EXPECT_EQ(id_at(*data.validation, 0), 500);
}

TEST(TextData, RefusesTokensThatAreTooFewToSplit) {
  const auto data = prepare({.train = {write_ids("few.bin", 0, 1)}, .validation_fraction = 0.1});
  ASSERT_FALSE(data.ok());
  EXPECT_EQ(data.error().message,
            "[tokens] 1 tokens cannot be split: a validation_fraction of 0.100000 leaves one side empty; give "
            "validation tokens");
}

}  // namespace
}  // namespace plimsoll::engine
