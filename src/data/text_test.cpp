#include "data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/test_text.h"

namespace plimsoll::data {
namespace {

using testing::HasSubstr;

std::string message_of(const TextPart& part) {
  const auto text = try_read_all(part);
  return text.ok() ? "" : text.error().message;
}

TEST(TextReader, GivesBackTheTextInChunksThatEndBeforeLineEnds) {
  const std::string text = made_up_text(5000);
  ASSERT_GT(std::ssize(text), 3 * TextReader::kChunkBytes);
  const TextPart part = part_of(write_text("long.txt", text));
  EXPECT_EQ(try_read_all(part).value(), text);
  TextReader reader(part);
  const std::string first(reader.try_next().value());
  EXPECT_LE(std::ssize(first), TextReader::kChunkBytes);
  EXPECT_NE(first.back(), '\n');
  EXPECT_EQ(reader.try_next().value().front(), '\n');
}

TEST(TextReader, ReadsOneLineLongerThanAChunk) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\xC3\xA9";
  EXPECT_EQ(try_read_all(part_of(write_text("one_line.txt", text))).value(), text);
}

TEST(TextReader, PutsASeparatorBetweenFiles) {
  TextPart both = part_of(write_text("one.txt", "one"));
  both.push_back(part_of(write_text("two.txt", "two\f"))[0]);
  both.push_back(part_of(write_text("three.txt", "three"))[0]);
  EXPECT_EQ(try_read_all(both).value(), "one\ftwo\fthree");
}

TEST(TextReader, RefusesWhatIsNoText) {
  EXPECT_THAT(message_of(part_of(write_text("zero.txt", std::string_view("a\0b", 3)))), HasSubstr("zero byte"));
  std::string garbage;
  for (int i = 1; i < 5000; ++i) garbage += static_cast<char>(1 + i * 7919 % 255);
  EXPECT_THAT(message_of(part_of(write_text("garbage.txt", garbage))), HasSubstr("not UTF-8"));
  EXPECT_EQ(message_of(part_of(write_text("latin1.txt", "a caf\xE9 and a na\xEFve text, mostly of plain letters"))),
            "");
  EXPECT_THAT(message_of({{"/absent.txt", 0, 5}}), HasSubstr("No such file"));
}

TEST(SplitText, CutsWhereADocumentEnds) {
  std::string text;
  for (int document = 0; document < 10; ++document) text += std::string(99, static_cast<char>('a' + document)) + "\f";
  const std::string path = write_text("documents.txt", text);
  const TextSplit split = try_split_text({.paths = {path}, .validation_fraction = 0.25}).value();
  EXPECT_EQ(split.train, (TextPart{{path, 0, 800}}));
  EXPECT_EQ(split.validation, (TextPart{{path, 800, 1000}}));
}

TEST(SplitText, ACutAtADocumentsEndStays) {
  const std::string path = write_text("exact.txt", "aaaa\fbbbb\f");
  EXPECT_EQ(try_split_text({.paths = {path}, .validation_fraction = 0.5}).value().validation[0].begin, 5);
}

TEST(SplitText, WithoutDocumentsItCutsAtALineEnd) {
  const std::string path = write_text("lines.txt", "first\nsecond\nthird\nfourth\n");
  const TextSplit split = try_split_text({.paths = {path}, .validation_fraction = 0.4}).value();
  EXPECT_EQ(try_read_all(split.train).value(), "first\nsecond\nthird\n");
  EXPECT_EQ(try_read_all(split.validation).value(), "fourth\n");
}

TEST(SplitText, FilesOfAFolderAreDocumentsInTheOrderOfNames) {
  std::filesystem::remove_all(testing::TempDir() + "/plimsoll_data_folder");
  for (const char* name : {"b", "a", "sub/d", "c"})
    write_text(std::string("folder/") + name + ".txt", std::string(100, name[0]));
  write_text("folder/ignored.md", "no text file");
  const std::string folder = testing::TempDir() + "/plimsoll_data_folder";
  const TextSplit split = try_split_text({.paths = {folder}, .validation_fraction = 0.3}).value();
  EXPECT_EQ(split.train.size(), 3u);
  EXPECT_EQ(split.train[0].path, folder + "/a.txt");
  EXPECT_EQ(split.validation, (TextPart{{folder + "/sub/d.txt", 0, 100}}));
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
