#include "formats/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "formats/crc32c.h"

namespace plimsoll::formats {
namespace {

using testing::HasSubstr;

std::string file_name(const char* name) { return testing::TempDir() + "/plimsoll_token_file_" + name; }

template <class Word>
std::string write_words(const char* name, const std::vector<Word>& words) {
  std::string path = file_name(name);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(Word)));
  return path;
}

std::string write_with_header(const char* name, DType dtype, const std::vector<int32_t>& ids) {
  std::string path = file_name(name);
  auto writer = TokenFileWriter::try_create(path, dtype).value();
  writer.try_append(ids).value();
  writer.try_finish().value();
  return path;
}

// Opens and checks as a training run does; the message is empty where all is well.
std::string message_of(const std::string& path, int64_t vocab_size, std::optional<DType> dtype = {}) {
  auto info = try_inspect_token_file(path, vocab_size, dtype);
  if (!info.ok()) return info.error().message;
  auto reader = TokenFileReader::try_open(*info, vocab_size);
  if (!reader.ok()) return reader.error().message;
  const Result<uint32_t> status = reader->try_check_ids();
  return status.ok() ? "" : status.error().message;
}

std::vector<int32_t> counting(int32_t count, int32_t step = 1) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) ids[static_cast<size_t>(i)] = i * step;
  return ids;
}

TEST(TokenFile, TheChecksumIsThatOfTheIdsAloneAcrossBuffers) {
  const std::vector<int32_t> ids = counting(40'001);
  const std::vector<uint16_t> words(ids.begin(), ids.end());
  const uint32_t expected = crc32c(std::as_bytes(std::span(words)));
  for (const std::string& path :
       {write_with_header("summed.bin", DType::kU16, ids), write_words("summed_bare.bin", words)}) {
    const TokenFileInfo info = try_inspect_token_file(path, 50'000, DType::kU16).value();
    EXPECT_EQ(TokenFileReader::try_open(info, 50'000).value().try_check_ids().value(), expected) << path;
  }
}

TEST(TokenFile, ReadsBackWhatWasWrittenInBothDtypes) {
  for (DType dtype : {DType::kU16, DType::kU32}) {
    const auto ids = counting(40'001);
    const std::string path = write_with_header("round_trip.bin", dtype, ids);
    const TokenFileInfo info = try_inspect_token_file(path, 50'000).value();
    EXPECT_EQ(info.dtype, dtype);
    EXPECT_EQ(info.count, 40'001);
    EXPECT_EQ(info.size_bytes(), 40'001 * size_bytes(dtype));
    auto reader = TokenFileReader::try_open(info, 50'000).value();
    std::vector<int32_t> back(ids.size() - 7);
    ASSERT_TRUE(reader.try_read(7, back).ok());
    EXPECT_TRUE(std::equal(back.begin(), back.end(), ids.begin() + 7));
    EXPECT_EQ(message_of(path, 50'000), "");
  }
}

TEST(TokenFile, WithoutHeaderTheVocabularySettlesTheDtype) {
  EXPECT_EQ(try_inspect_token_file(write_words<uint16_t>("plain16.bin", {1, 2, 3}), 256).value().count, 3);
  EXPECT_EQ(try_inspect_token_file(write_words<uint32_t>("plain32.bin", {1, 70'000}), 100'000).value().count, 2);
  EXPECT_EQ(try_inspect_token_file(write_words<uint32_t>("plain32.bin", {1, 7}), 256, DType::kU32).value().count, 2);
}

// Field report G15 (a).
TEST(TokenFile, RefusesU32IdsReadAsU16) {
  std::vector<uint32_t> ids(4'000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint32_t>(i * 7919 % 119'547);
  const std::string path = write_words("wide.bin", ids);
  EXPECT_THAT(message_of(path, 119'547, DType::kU16), HasSubstr("u16 cannot hold"));
  EXPECT_THAT(message_of(path, 65'536, DType::kU16), HasSubstr("looks like u32"));
  EXPECT_THAT(message_of(path, 50'257), HasSubstr("looks like u32"));
  EXPECT_EQ(message_of(path, 119'547), "");

  for (auto& id : ids) id %= 50'000;
  EXPECT_THAT(message_of(write_words("narrow.bin", ids), 50'257), HasSubstr("looks like u32"));
}

TEST(TokenFile, RefusesU16IdsReadAsU32) {
  const std::string path = write_words<uint16_t>("narrow16.bin", {5, 6, 7, 8});
  EXPECT_THAT(message_of(path, 119'547), HasSubstr("id 393221 at position 0 is outside the vocabulary of 119547"));
}

// Field report G15 (b).
TEST(TokenFile, NamesTheFirstIdOutsideTheVocabulary) {
  std::vector<uint16_t> ids(100'003);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint16_t>(i % 50'257);
  ids[90'001] = 50'257;
  ids[95'000] = 60'000;
  const std::string path = write_words("outside.bin", ids);
  EXPECT_THAT(message_of(path, 50'257), HasSubstr("id 50257 at position 90001 is outside the vocabulary of 50257"));

  // Reading it without the check cannot hand the id out either.
  auto reader = TokenFileReader::try_open(try_inspect_token_file(path, 50'257).value(), 50'257).value();
  std::vector<int32_t> window(8);
  EXPECT_TRUE(reader.try_read(89'990, window).ok());
  EXPECT_THAT(reader.try_read(89'996, window).error().message, HasSubstr("position 90001"));
}

// Field report G15 (c).
TEST(TokenFile, RefusesAnOddNumberOfBytes) {
  EXPECT_THAT(message_of(write_words<uint8_t>("odd.bin", {1, 0, 2, 0, 3}), 256), HasSubstr("5 bytes of ids"));
  EXPECT_THAT(message_of(write_words<uint8_t>("odd32.bin", {1, 0, 2, 0, 3, 0}), 256, DType::kU32),
              HasSubstr("no whole number of u32"));
}

TEST(TokenFile, ChecksTheHeaderAgainstTheFile) {
  const std::string path = write_with_header("cut.bin", DType::kU16, counting(1'000));
  std::filesystem::resize_file(path, 1024 + 1998);
  EXPECT_THAT(message_of(path, 50'257), HasSubstr("its header says 1000 ids, the file holds 999"));
  std::filesystem::resize_file(path, 1024 + 1999);
  EXPECT_THAT(message_of(path, 50'257), HasSubstr("no whole number"));
  std::filesystem::resize_file(path, 1000);
  EXPECT_THAT(message_of(path, 50'257), HasSubstr("ends inside its token file header"));

  EXPECT_THAT(message_of(write_with_header("u16.bin", DType::kU16, counting(9)), 256, DType::kU32),
              HasSubstr("u16 ids by its header"));
  std::vector<int32_t> header(300, 0);
  header[0] = 20240520;
  header[1] = 9;
  EXPECT_THAT(message_of(write_words("version.bin", header), 256), HasSubstr("version 9"));
}

TEST(TokenFile, RefusesWhatIsNoTokenFile) {
  EXPECT_THAT(message_of(file_name("absent.bin"), 256), HasSubstr("No such file"));
  EXPECT_THAT(message_of(testing::TempDir(), 256), HasSubstr("no regular file"));
  EXPECT_THAT(message_of(write_words<uint8_t>("empty.bin", {}), 256), HasSubstr("holds no ids"));
  EXPECT_THAT(message_of(write_words<uint8_t>("byte.bin", {1}), 256), HasSubstr("1 bytes of ids"));
}

TEST(TokenFile, TheWriterRefusesIdsThatDoNotFit) {
  auto writer = TokenFileWriter::try_create(file_name("fit.bin"), DType::kU16).value();
  EXPECT_THAT(writer.try_append(std::vector<int32_t>{1, 65'535, 65'536}).error().message, HasSubstr("position 2"));
  EXPECT_THAT(writer.try_append(std::vector<int32_t>{-1}).error().message, HasSubstr("id -1"));
}

TEST(TokenFile, AnUnfinishedWriteLeavesTheOldFile) {
  const std::string path = write_with_header("kept.bin", DType::kU16, counting(10));
  {
    auto writer = TokenFileWriter::try_create(path, DType::kU16).value();
    writer.try_append(counting(99)).value();
  }
  EXPECT_EQ(try_inspect_token_file(path, 256).value().count, 10);
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

}  // namespace
}  // namespace plimsoll::formats
