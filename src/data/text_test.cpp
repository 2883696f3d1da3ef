#include "data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/test_text.h"

namespace plimsoll::data {
namespace {

using testing::HasSubstr;

std::string message_of(const TextPart& part) {
  const auto text = read_all(part);
  return text.ok() ? "" : text.error().message;
}

TEST(TextReader, GivesBackTheTextInChunksThatEndBeforeLineEnds) {
  const std::string text = made_up_text(5000);
  ASSERT_GT(std::ssize(text), 3 * TextReader::kChunkBytes);
  const TextPart part = part_of(write_text("long.txt", text));
  EXPECT_EQ(read_all(part).value(), text);
  TextReader reader(part);
  const std::string first(reader.try_next().value());
  EXPECT_LE(std::ssize(first), TextReader::kChunkBytes);
  EXPECT_NE(first.back(), '\n');
  EXPECT_EQ(reader.try_next().value().front(), '\n');
}

TEST(TextReader, ReadsOneLineLongerThanAChunk) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\xC3\xA9";
  EXPECT_EQ(read_all(part_of(write_text("one_line.txt", text))).value(), text);
}

TEST(TextReader, PutsASeparatorBetweenFiles) {
  TextPart both = part_of(write_text("one.txt", "one"));
  both.ranges.push_back(part_of(write_text("two.txt", "two\f")).ranges[0]);
  both.ranges.push_back(part_of(write_text("three.txt", "three")).ranges[0]);
  EXPECT_EQ(read_all(both).value(), "one\ftwo\fthree");
  both.separator = "<|end|>";
  EXPECT_EQ(read_all(both).value(), "one<|end|>two\f<|end|>three");
  both.separator = "";
  EXPECT_EQ(read_all(both).value(), "onetwo\fthree");
}

// The first chunk of a text without line ends takes the separator's first bytes.
TEST(TextReader, KnowsASeparatorThatLiesAcrossTwoChunks) {
  const std::string separator = "<|endoftext|>";
  const std::string text(static_cast<size_t>(TextReader::kChunkBytes) - 6, 'x');
  TextPart both = part_of(write_text("across.txt", text + separator));
  both.ranges.push_back(part_of(write_text("behind.txt", "behind")).ranges[0]);
  both.separator = separator;
  EXPECT_EQ(read_all(both).value(), text + separator + "behind");
}

TEST(TextReader, RefusesWhatIsNoText) {
  EXPECT_THAT(message_of(part_of(write_text("zero.txt", std::string_view("a\0b", 3)))), HasSubstr("zero byte"));
  std::string garbage;
  for (int i = 1; i < 5000; ++i) garbage += static_cast<char>(1 + i * 7919 % 255);
  EXPECT_THAT(message_of(part_of(write_text("garbage.txt", garbage))), HasSubstr("not UTF-8"));
  EXPECT_EQ(message_of(part_of(write_text("latin1.txt", "a caf\xE9 and a na\xEFve text, mostly of plain letters"))),
            "");
  EXPECT_THAT(message_of({.ranges = {{"/absent.txt", 0, 5}}}), HasSubstr("No such file"));
}

TEST(SplitText, CutsWhereADocumentEnds) {
  std::string text;
  for (int document = 0; document < 10; ++document) text += std::string(99, static_cast<char>('a' + document)) + "\f";
  const std::string path = write_text("documents.txt", text);
  const TextSplit split = try_split_text({.paths = {path}, .validation_fraction = 0.25}).value();
  EXPECT_EQ(split.train.ranges, (std::vector<TextRange>{{path, 0, 800}}));
  EXPECT_EQ(split.validation.ranges, (std::vector<TextRange>{{path, 800, 1000}}));
}

TEST(SplitText, ACutAtADocumentsEndStays) {
  const std::string path = write_text("exact.txt", "aaaa\fbbbb\f");
  EXPECT_EQ(try_split_text({.paths = {path}, .validation_fraction = 0.5}).value().validation.ranges[0].begin, 5);
}

TEST(SplitText, WithoutDocumentsItCutsAtALineEnd) {
  const std::string path = write_text("lines.txt", "first\nsecond\nthird\nfourth\n");
  const TextSplit split = try_split_text({.paths = {path}, .validation_fraction = 0.4}).value();
  EXPECT_EQ(read_all(split.train).value(), "first\nsecond\nthird\n");
  EXPECT_EQ(read_all(split.validation).value(), "fourth\n");
}

TEST(SplitText, FilesOfAFolderAreDocumentsInTheOrderOfNames) {
  std::filesystem::remove_all(testing::TempDir() + "/plimsoll_data_folder");
  for (const char* name : {"b", "a", "sub/d", "c"})
    write_text(std::string("folder/") + name + ".txt", std::string(100, name[0]));
  write_text("folder/ignored.md", "no text file");
  const std::string folder = testing::TempDir() + "/plimsoll_data_folder";
  const TextSplit split = try_split_text({.paths = {folder}, .validation_fraction = 0.3}).value();
  EXPECT_EQ(split.train.ranges.size(), 3u);
  EXPECT_EQ(split.train.ranges[0].path, folder + "/a.txt");
  EXPECT_EQ(split.validation.ranges, (std::vector<TextRange>{{folder + "/sub/d.txt", 0, 100}}));
}

TEST(SplitText, BothSidesKeepTheSeparator) {
  const std::string path = write_text("marked.txt", "one<|end|>two<|end|>three");
  const TextSplit cut = try_split_text({.paths = {path}, .validation_fraction = 0.5, .separator = "<|end|>"}).value();
  EXPECT_EQ(read_all(cut.train).value(), "one<|end|>two<|end|>");
  EXPECT_EQ(read_all(cut.validation).value(), "three");
  EXPECT_EQ(cut.train.separator, "<|end|>");
  EXPECT_EQ(cut.validation.separator, "<|end|>");
  const TextSplit given =
      try_split_text({.paths = {path, path}, .validation_paths = {path, path}, .separator = "<|end|>"}).value();
  EXPECT_EQ(read_all(given.train).value(), "one<|end|>two<|end|>three<|end|>one<|end|>two<|end|>three");
  EXPECT_EQ(given.validation, given.train);
}

// A link to itself cannot be followed: an error of the system, told as one.
TEST(SplitText, AFileThatCannotBeLookedAtIsAnIoError) {
  const std::string folder = testing::TempDir() + "/plimsoll_data_loop";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("loop.txt", folder + "/loop.txt");
  const auto split = try_split_text({.paths = {folder}});
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.error().code, ErrorCode::kIo);
  EXPECT_THAT(split.error().message, HasSubstr("loop.txt"));
}

TEST(SplitText, TakesGivenValidationTextOrNone) {
  const std::string train = write_text("train.txt", "train");
  const std::string valid = write_text("valid.txt", "valid");
  EXPECT_EQ(try_split_text({.paths = {train}, .validation_paths = {valid}}).value().validation, part_of(valid));
  EXPECT_TRUE(try_split_text({.paths = {train}, .validation_fraction = 0}).value().validation.empty());
}

TEST(SplitText, SaysWhatIsWrongInOneLine) {
  const std::string empty = write_text("empty.txt", "");
  const std::string word = write_text("word.txt", "w");
  const std::string folder = testing::TempDir() + "/plimsoll_data_no_text";
  std::filesystem::create_directories(folder);
  const auto message = [](const TextOptions& options) { return try_split_text(options).error().message; };
  EXPECT_THAT(message({.paths = {empty}}), HasSubstr("empty.txt is empty"));
  EXPECT_THAT(message({.paths = {}}), HasSubstr("no text is given"));
  EXPECT_THAT(message({.paths = {"/absent.txt"}}), HasSubstr("No such file"));
  EXPECT_THAT(message({.paths = {folder}}), HasSubstr("holds no .txt file"));
  EXPECT_THAT(message({.paths = {word}, .validation_fraction = 1}), HasSubstr("out of range"));
  EXPECT_THAT(message({.paths = {word}, .validation_fraction = 0.5}), HasSubstr("cannot be split"));
}

}  // namespace
}  // namespace plimsoll::data
