#include "core/utf8.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Utf8, KnowsWhatIsACharacter) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\xC3\xA9"), 2u);
  EXPECT_EQ(utf8_length("\xF0\x9F\x9A\xA2"), 4u);
  for (const char* wrong :
       {"\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5", "\xC3", "\xE2\x82"}) {
    EXPECT_EQ(utf8_length(wrong), 0u);
  }
}

TEST(Utf8, PrefixesEndBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("ab\xC3\xA9", 3), "ab");
  EXPECT_EQ(utf8_prefix("ab\xC3\xA9", 4), "ab\xC3\xA9");
  EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
}

TEST(Utf8, SeesThatTheLastCharacterIsUnfinished) {
  EXPECT_EQ(utf8_unfinished("a\xF0\x9F\x9A"), 3u);
  EXPECT_EQ(utf8_unfinished("a\xF0"), 1u);
  for (const char* whole :
       {"", "a", "\xC3\xA9", "\xF0\x9F\x9A\xA2", "a\x80", "\x80\x80\x80\x80", "\xC3\xA9\x80", "\xFF"})
    EXPECT_EQ(utf8_unfinished(whole), 0u) << whole;
}

}  // namespace
}  // namespace plimsoll
