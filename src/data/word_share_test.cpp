#include "data/word_share.h"

#include <gtest/gtest.h>

#include "data/test_text.h"

namespace plimsoll::data {
namespace {

constexpr auto kGoOn = [](int64_t, int64_t) { return true; };

TEST(WordShare, CountsTheWordsThatTheTextHolds) {
  const TextPart corpus = part_of(write_text("words.txt", "The sea is open(2), O_RDONLY 42 na\xC3\xAFve"));
  const WordShare share =
      try_count_known_words(corpus, "sea the O_RDONLY opens open(99) na\xC3\xAFve is cu", false, kGoOn).value();
  EXPECT_EQ(share.words, 7);
  EXPECT_EQ(share.known, 5);
  EXPECT_EQ(try_count_known_words(corpus, "lf sea ", true, kGoOn).value().words, 1);
  EXPECT_EQ(try_count_known_words(corpus, "", false, kGoOn).value().share(), 0);
}

TEST(WordShare, AWordThatTheSampleRepeatsCountsEachTime) {
  WordSearch search("sea sea ship sea.");
  search.add("the sea");
  search.finish();
  EXPECT_EQ(search.found().words, 4);
  EXPECT_EQ(search.found().known, 3);
  EXPECT_FALSE(search.has_found_all());
}

TEST(WordShare, AWordMayGoOnInTheNextCall) {
  WordSearch search("together to apart ");
  search.add("to");
  search.add("gether apart");
  search.finish();
  EXPECT_EQ(search.found().known, 2);
}

TEST(WordShare, AWordLongerThanAllOfTheSampleIsNoneOfThem) {
  WordSearch search("sea ship ");
  search.add("seas shipshipship sea");
  EXPECT_EQ(search.found().known, 0);
  search.finish();
  EXPECT_EQ(search.found().known, 1);
}

TEST(WordShare, StopsReadingWhenAllIsFoundOrItIsTold) {
  const TextPart corpus = part_of(write_text("many_words.txt", made_up_text(5000)));
  int64_t read = 0;
  const auto note = [&](int64_t done, int64_t) {
    read = done;
    return true;
  };
  EXPECT_EQ(try_count_known_words(corpus, "ship ", false, note).value().share(), 1);
  EXPECT_LE(read, TextReader::kChunkBytes);
  const auto stopped = try_count_known_words(corpus, "unheard ", false, [](int64_t, int64_t) { return false; });
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace plimsoll::data
