#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/philox.h"
#include "formats/crc32c.h"

namespace plimsoll::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string file_name(const char* name) {
  return testing::TempDir() + "/plimsoll_safetensors_" + std::to_string(::getpid()) + "_" + name;
}

std::string prefix(uint64_t length) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out;
}

std::string write_raw(const char* name, const std::string& bytes) {
  std::string path = file_name(name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// A file of that header, unpadded, and `data_bytes` bytes 0, 1, 2, …
std::string write_file(const char* name, const std::string& json, size_t data_bytes) {
  std::string data(data_bytes, '\0');
  std::iota(data.begin(), data.end(), '\0');
  return write_raw(name, prefix(json.size()) + json + data);
}

// Why opening fails; empty where it does not.
std::string message_of(const std::string& path) {
  const auto reader = SafetensorsReader::try_open(path);
  return reader.ok() ? "" : reader.error().message;
}

std::string message_of(const std::string& json, int64_t data_bytes) {
  const auto header = try_parse_safetensors_header(json, data_bytes, "f");
  return header.ok() ? "" : header.error().message;
}

std::vector<std::byte> counting(int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 131 + i / 256);
  return bytes;
}

std::vector<std::byte> read(const SafetensorsReader& reader, std::string_view name) {
  const SafetensorsEntry* entry = reader.header().find(name);
  std::vector<std::byte> bytes(static_cast<size_t>(entry->size_bytes()));
  reader.try_read(*entry, bytes).value();
  return bytes;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<SafetensorsEntry> kEveryDType{
    {"f32", DType::kF32, {3, 5}, 0}, {"bf16", DType::kBF16, {7}, 0},     {"f16", DType::kF16, {1, 1, 2}, 0},
    {"f64", DType::kF64, {2}, 0},    {"i8", DType::kI8, {3}, 0},         {"u8", DType::kU8, {5}, 0},
    {"u16", DType::kU16, {3}, 0},    {"i32", DType::kI32, {2}, 0},       {"u32", DType::kU32, {2}, 0},
    {"i64", DType::kI64, {1}, 0},    {"bool", DType::kBool, {2, 2}, 0},  {"empty", DType::kF32, {4, 0}, 0},
    {"scalar", DType::kF32, {}, 0},  {"last \"é\n", DType::kF32, {0}, 0}};

std::vector<std::byte> write_every_dtype(const std::string& path, WriteCall write = {}) {
  int64_t total = 0;
  for (const SafetensorsEntry& entry : kEveryDType) total += entry.size_bytes();
  auto data = counting(total);
  auto writer =
      SafetensorsWriter::try_create(path, kEveryDType, {{"b", "2"}, {"a", "\"1\""}}, std::move(write)).value();
  for (size_t at = 0; at < data.size(); at += 7)
    writer.try_append(std::span(data).subspan(at, std::min<size_t>(7, data.size() - at))).value();
  writer.try_finish().value();
  EXPECT_EQ(std::filesystem::file_size(path), static_cast<uint64_t>(writer.size_bytes()));
  return data;
}

TEST(Safetensors, ReadsBackEveryDTypeAndShapeInTheOrderGiven) {
  const std::string path = file_name("every.safetensors");
  const auto data = write_every_dtype(path);
  const auto reader = SafetensorsReader::try_open(path).value();
  EXPECT_EQ(reader.header().metadata, (SafetensorsMetadata{{"a", "\"1\""}, {"b", "2"}}));
  ASSERT_EQ(reader.header().entries.size(), kEveryDType.size());
  int64_t offset = 0;
  for (const SafetensorsEntry& expected : kEveryDType) {
    const SafetensorsEntry* entry = reader.header().find(expected.name);
    ASSERT_NE(entry, nullptr) << expected.name;
    EXPECT_EQ(entry->dtype, expected.dtype);
    EXPECT_EQ(entry->shape, expected.shape);
    EXPECT_EQ(entry->offset, offset);
    const auto first = data.begin() + offset;
    EXPECT_EQ(read(reader, expected.name), std::vector<std::byte>(first, first + entry->size_bytes()));
    offset += entry->size_bytes();
  }
  EXPECT_EQ(reader.header().find("absent"), nullptr);
}

TEST(Safetensors, GivesTheSameBytesForTheSameTensorsAndAlignsTheData) {
  write_every_dtype(file_name("one"));
  write_every_dtype(file_name("two"));
  const std::string bytes = contents(file_name("one"));
  EXPECT_EQ(bytes, contents(file_name("two")));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_THAT(bytes.substr(8),
              testing::StartsWith(R"({"__metadata__":{"a":"\"1\"","b":"2"},"f32":{"dtype":"F32","shape":[3,5],)"
                                  R"("data_offsets":[0,60]},"bf16":)"));
}

TEST(Safetensors, WritesNoFileForNamesThatCannotBe) {
  const auto message = [](const std::vector<SafetensorsEntry>& entries, const SafetensorsMetadata& metadata = {}) {
    const auto writer = SafetensorsWriter::try_create(file_name("never"), entries, metadata);
    return writer.ok() ? "" : writer.error().message;
  };
  EXPECT_THAT(message({{"w", DType::kF32, {1}, 0}, {"w", DType::kF32, {2}, 0}}), HasSubstr("the name 'w'"));
  EXPECT_THAT(message({{"__metadata__", DType::kF32, {1}, 0}}), HasSubstr("reserved"));
  EXPECT_THAT(message({{"\xff", DType::kF32, {1}, 0}}), HasSubstr("UTF-8"));
  EXPECT_THAT(message({}, {{"k", "\xc3"}}), HasSubstr("UTF-8"));
  EXPECT_THAT(message({{"w", DType::kF32, {int64_t{1} << 61}, 0}}), HasSubstr("overflows"));
  EXPECT_THAT(message({{"a", DType::kI8, {INT64_MAX}, 0}, {"b", DType::kI8, {1}, 0}}), HasSubstr("overflows"));
  EXPECT_FALSE(std::filesystem::exists(file_name("never")));
  EXPECT_FALSE(std::filesystem::exists(file_name("never") + ".part"));
}

// Case G38.
TEST(Safetensors, ComparesTheHeaderLengthWithTheFileBeforeAnythingElse) {
  const std::string json = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string rest = json + "0000";
  const uint64_t size = 8 + rest.size();
  for (uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 7, size - 7, size})
    EXPECT_THAT(message_of(write_raw("length", prefix(length) + rest)), HasSubstr("the file has 58 left")) << length;
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, size - 8})
    EXPECT_NE(message_of(write_raw("length", prefix(length) + rest)), "") << length;
  EXPECT_EQ(message_of(write_raw("length", prefix(json.size()) + rest)), "");
  EXPECT_THAT(message_of(write_raw("short", "1234567")), HasSubstr("7 bytes are too few"));
  EXPECT_THAT(message_of(write_raw("short", "")), HasSubstr("0 bytes are too few"));
}

TEST(Safetensors, RefusesHeadersAboveTheFormatsLimit) {
  const std::string path = write_raw("long", prefix(kSafetensorsHeaderLimitBytes + 1) + "{");
  std::filesystem::resize_file(path, kSafetensorsHeaderLimitBytes + 100);  // a hole: takes no disk
  EXPECT_THAT(message_of(path), HasSubstr("the format allows 100000000"));
  std::filesystem::remove(path);
}

// Case G39.
TEST(Safetensors, RefusesDuplicateKeysInAnySpelling) {
  const std::string w = R"(:{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  const std::string later = R"(:{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  EXPECT_THAT(message_of("{\"w\"" + w + ",\"w\"" + later + "}", 8), HasSubstr("duplicate key 'w'"));
  EXPECT_THAT(message_of("{\"w\"" + w + ",\"\\u0077\"" + later + "}", 8), HasSubstr("duplicate key 'w'"));
  EXPECT_THAT(message_of("{\"__metadata__\":{},\"w\"" + w + ",\"__metadata__\":{}}", 4),
              HasSubstr("duplicate key '__metadata__'"));
  EXPECT_THAT(message_of(R"({"__metadata__":{"a":"1","\u0061":"2"}})", 0), HasSubstr("duplicate key 'a'"));
  EXPECT_THAT(message_of(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
              HasSubstr("duplicate key 'dtype'"));
}

// Case G40.
TEST(Safetensors, RefusesOffsetsThatContradictTheShape) {
  const auto message = [](const std::string& shape, const std::string& offsets, int64_t data_bytes) {
    return message_of(R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", data_bytes);
  };
  EXPECT_EQ(message("[1]", "[0,4]", 4), "");
  EXPECT_EQ(message("[1000,1000]", "[0,4]", 4),
            "f: tensor 'w' f32[1000,1000] takes 4000000 bytes, but its offsets are [0,4)");
  EXPECT_THAT(message("[4611686018427387904,4]", "[0,4]", 4), HasSubstr("overflows"));
  EXPECT_THAT(message("[4611686018427387904]", "[0,4]", 4), HasSubstr("overflows"));
  EXPECT_THAT(message("[4611686018427387904,4,0]", "[0,0]", 0), HasSubstr("overflows"));
  EXPECT_THAT(message("[1]", "[4,0]", 4), HasSubstr("ends before it begins"));
  EXPECT_THAT(message("[2]", "[0,8]", 4), HasSubstr("past the file; the data has 4 bytes"));
  EXPECT_THAT(message("[1]", "[9223372036854775803,9223372036854775807]", 4), HasSubstr("after a gap from 0"));
  EXPECT_THAT(message("[1]", "[0]", 4), HasSubstr("has not 2 numbers"));
  EXPECT_THAT(message("[1]", "[0,4,8]", 4), HasSubstr("more than 2 numbers"));
  EXPECT_THAT(message("[1.5]", "[0,4]", 4), HasSubstr("the number 1.5"));
  EXPECT_THAT(message("[1]", "[0,4.0]", 4), HasSubstr("the number 4.0"));
  EXPECT_THAT(message("[-4]", "[0,4]", 4), HasSubstr("the number -4"));
  EXPECT_THAT(message("[1]", "[-4,0]", 4), HasSubstr("the number -4"));
  EXPECT_THAT(message("[18446744073709551615]", "[0,4]", 4), HasSubstr("expected whole numbers"));
  EXPECT_THAT(message("[1e400]", "[0,4]", 4), HasSubstr("byte"));
}

TEST(Safetensors, RefusesGapsOverlapsAndUncoveredData) {
  const auto message = [](const std::string& first, const std::string& second, int64_t data_bytes) {
    const std::string open = R"({"dtype":"U8","shape":[4],"data_offsets":)";
    return message_of("{\"a\":" + open + first + "},\"b\":" + open + second + "}}", data_bytes);
  };
  EXPECT_EQ(message("[0,4]", "[4,8]", 8), "");
  EXPECT_EQ(message("[4,8]", "[0,4]", 8), "");
  EXPECT_THAT(message("[0,4]", "[5,9]", 9), HasSubstr("'b' begins at 5, after a gap from 4"));
  EXPECT_THAT(message("[0,4]", "[3,7]", 7), HasSubstr("'b' begins at 3 and overlaps"));
  EXPECT_THAT(message("[0,4]", "[0,4]", 4), HasSubstr("overlaps"));
  EXPECT_THAT(message("[1,5]", "[5,9]", 9), HasSubstr("after a gap from 0"));
  EXPECT_THAT(message("[0,4]", "[4,8]", 9), HasSubstr("the tensors end at 8; the data has 9 bytes"));
}

TEST(Safetensors, SaysWhatIsWrongWithAnEntry) {
  EXPECT_THAT(message_of(R"({"w":5})", 0), AllOf(HasSubstr("'w' holds the number 5"), HasSubstr("expected an object")));
  EXPECT_THAT(message_of(R"({"w":{"dtype":"F32","shape":[0]}})", 0), HasSubstr("has no 'data_offsets'"));
  EXPECT_THAT(message_of(R"({"w":{"dtype":"F33","shape":[0],"data_offsets":[0,0]}})", 0), HasSubstr("'F33'"));
  EXPECT_THAT(message_of(R"({"w":{"dtype":4}})", 0), HasSubstr("expected a string"));
  EXPECT_THAT(message_of(R"({"w":{"shape":[[1]]}})", 0), HasSubstr("holds a list"));
  EXPECT_THAT(message_of(R"({"w":{"shape":{}}})", 0), HasSubstr("holds an object"));
  EXPECT_THAT(message_of(R"({"w":{"size":[1]}})", 0), HasSubstr("unknown key 'size'"));
  EXPECT_THAT(message_of(R"({"__metadata__":{"a":1}})", 0), HasSubstr("expected a string"));
  EXPECT_THAT(message_of("[1]", 0), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(message_of("{", 0), HasSubstr("no JSON at its byte"));
  EXPECT_THAT(message_of("{} x", 0), HasSubstr("no JSON at its byte 4"));
  EXPECT_THAT(message_of("{\"" + std::string(500, 'n') + "\":1}", 0), testing::SizeIs(testing::Lt(200U)));
}

TEST(Safetensors, CallsWhatItDoesNotHoldUnsupported) {
  for (const char* json : {R"({"w":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})",
                           R"({"w":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}})"}) {
    const auto header = try_parse_safetensors_header(json, 1, "f");
    ASSERT_FALSE(header.ok());
    EXPECT_EQ(header.error().code, ErrorCode::kUnsupported);
  }
}

// Case G41.
TEST(Safetensors, ReadsTensorsAtAnyAlignment) {
  for (size_t pad = 0; pad < 8; ++pad) {
    const std::string json = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                             R"("b":{"dtype":"F32","shape":[5],"data_offsets":[3,23]},)"
                             R"("c":{"dtype":"BF16","shape":[2],"data_offsets":[23,27]}})" +
                             std::string(pad, ' ');
    const auto reader = SafetensorsReader::try_open(write_file("odd", json, 27)).value();
    std::vector<float> values(5);
    ASSERT_TRUE(reader.try_read(*reader.header().find("b"), std::as_writable_bytes(std::span(values))).ok());
    for (size_t i = 0; i < 20; ++i)
      EXPECT_EQ(std::as_bytes(std::span(values))[i], static_cast<std::byte>(3 + i)) << "pad " << pad;
    std::vector<std::byte> out(5);
    ASSERT_TRUE(reader.try_read(*reader.header().find("c"), std::span(out).subspan(1)).ok());
    EXPECT_EQ(out[1], std::byte{23});
    EXPECT_EQ(out[4], std::byte{26});
  }
}

// Case G42.
TEST(Safetensors, AcceptsEmptyTensorsAnywhereAndMetadataAlone) {
  EXPECT_EQ(message_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                       R"("e":{"dtype":"F32","shape":[4,0],"data_offsets":[2,2]},)"
                       R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},)"
                       R"("z":{"dtype":"F32","shape":[0],"data_offsets":[3,3]}})",
                       3),
            "");
  EXPECT_EQ(message_of(R"({"z":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0), "");
  EXPECT_EQ(message_of(R"({"s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4), "");
  EXPECT_EQ(message_of("{}", 0), "");
  const std::string path = file_name("metadata");
  auto writer = SafetensorsWriter::try_create(path, {}, {{"only", "this"}}).value();
  ASSERT_TRUE(writer.try_finish().ok());
  const auto reader = SafetensorsReader::try_open(path).value();
  EXPECT_EQ(reader.header().metadata.at("only"), "this");
  EXPECT_TRUE(reader.header().entries.empty());
}

TEST(Safetensors, ReadsInChunksWhoseSumIsThatOfTheWhole) {
  const std::string path = file_name("chunks");
  const auto data = counting(SafetensorsReader::kChunkBytes + 12'345);
  const std::vector<SafetensorsEntry> entries{{"w", DType::kU8, {static_cast<int64_t>(data.size())}, 0}};
  auto writer = SafetensorsWriter::try_create(path, entries).value();
  ASSERT_TRUE(writer.try_append(data).ok());
  ASSERT_TRUE(writer.try_finish().ok());
  const auto reader = SafetensorsReader::try_open(path).value();
  std::vector<std::byte> out(data.size());
  uint32_t sum = 0;
  int chunks = 0;
  ASSERT_TRUE(reader
                  .try_read(reader.header().entries[0], out,
                            [&](std::span<const std::byte> chunk) { sum = crc32c(chunk, sum), ++chunks; })
                  .ok());
  EXPECT_EQ(chunks, 2);
  EXPECT_EQ(out, data);
  EXPECT_EQ(sum, crc32c(data));
  std::filesystem::remove(path);
}

// Damage at random places: each header is refused or accepted, and what is accepted can be read.
TEST(Safetensors, SurvivesTwentyThousandDamagedHeaders) {
  const std::string json = R"({"__metadata__":{"a":"1"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                           R"("\u0077x":{"dtype":"U8","shape":[],"data_offsets":[16,17]}})";
  const std::string alphabet = "{}[]\",:\\u0123456789-.eE tfn\x01\x80\xff";
  int accepted = 0;
  for (uint64_t round = 0; round < 20'000; ++round) {
    std::string damaged = json;
    for (uint64_t edit = 0; edit <= round % 4; ++edit) {
      const auto [what, where, which, length] = Philox(38)(round, edit);
      const size_t at = where % (damaged.size() + 1);
      const char letter = alphabet[which % alphabet.size()];
      if (what % 5 == 0) damaged.resize(at);
      if (what % 5 == 1) damaged.erase(at, length % 9);
      if (what % 5 == 2) damaged.insert(at, 1 + length % 3, letter);
      if (what % 5 == 3 && at < damaged.size()) damaged[at] = letter;
      if (what % 5 == 4) damaged.insert(at, damaged.substr(which % (damaged.size() + 1), length % 60));
    }
    const auto header = try_parse_safetensors_header(damaged, 17, "f");
    if (!header.ok()) {
      EXPECT_THAT(header.error().message, testing::SizeIs(testing::Lt(500U))) << "round " << round;
      continue;
    }
    ++accepted;
    int64_t end = 0;
    for (const SafetensorsEntry& entry : header->entries) {
      EXPECT_EQ(entry.offset, end) << "round " << round << ": " << damaged;
      end += entry.size_bytes();
    }
    EXPECT_EQ(end, 17) << "round " << round << ": " << damaged;
  }
  EXPECT_GT(accepted, 20);
}

TEST(Crc32c, HasThePublishedCheckValueHoweverTheBytesAreCut) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
  EXPECT_EQ(crc32c({}), 0U);
  const auto bytes = counting(1000);
  for (size_t cut : {0, 1, 7, 8, 9, 500, 999, 1000})
    EXPECT_EQ(crc32c(std::span(bytes).subspan(cut), crc32c(std::span(bytes).first(cut))), crc32c(bytes)) << cut;
}

// Case G45.
TEST(FileWriter, LoopsOnShortWrites) {
  const WriteCall half = [](int descriptor, const std::byte* bytes, size_t count, int64_t offset) {
    return ::pwrite(descriptor, bytes, (count + 1) / 2, offset);
  };
  write_every_dtype(file_name("whole"));
  write_every_dtype(file_name("halves"), half);
  EXPECT_EQ(contents(file_name("whole")), contents(file_name("halves")));
}

TEST(FileWriter, NamesNeededWrittenAndFreeBytesOfAFullDisk) {
  const std::string path = file_name("full");
  std::ofstream(path) << "older";
  const auto bytes = counting(3 * FileWriter::kBufferBytes);
  for (int result : {-1, 0}) {
    const WriteCall full = [&](int descriptor, const std::byte* from, size_t count, int64_t offset) -> ssize_t {
      if (offset < FileWriter::kBufferBytes) return ::pwrite(descriptor, from, count, offset);
      errno = ENOSPC;
      return result;
    };
    auto writer = FileWriter::try_create(path, {.expected_bytes = 786'432, .write = full}).value();
    const Status status = writer.try_append(bytes);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("cannot write " + path +
                                                        ".part: No space left on device; the file needs 786432 bytes, "
                                                        "262144 are written, "),
                                              HasSubstr("bytes are free")));
  }
  EXPECT_EQ(contents(path), "older");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(Safetensors, AHeaderIsReadOnlyWithTheChecksumOfItsWriter) {
  const std::string path = file_name("summed");
  const std::vector<SafetensorsEntry> entries{{.name = "w", .dtype = DType::kF32, .shape = {2}}};
  auto writer = SafetensorsWriter::try_create(path, entries).value();
  const uint32_t checksum = writer.header_checksum();
  writer.try_append(counting(8)).value();
  writer.try_finish().value();
  EXPECT_TRUE(SafetensorsReader::try_open(path, checksum).ok());
  const auto other = SafetensorsReader::try_open(path, checksum ^ 1);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(other.error().message, path + " is damaged: the header does not match its checksum");
}

TEST(FileWriter, ReportsTheLimitOnFileSizesInsteadOfDyingOfIt) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  auto writer = FileWriter::try_create(file_name("limited")).value();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status status = writer.try_append(counting(FileWriter::kBufferBytes));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message,
              AllOf(HasSubstr("needs 262144 bytes"), HasSubstr("the limit on file sizes (ulimit -f) is 100000 bytes")));
}

}  // namespace
}  // namespace plimsoll::formats
