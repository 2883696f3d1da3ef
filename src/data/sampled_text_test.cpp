#include "data/sampled_text.h"

#include <gtest/gtest.h>

#include "data/test_text.h"

namespace plimsoll::data {
namespace {

std::string all_of(SampledText& text) {
  std::string out;
  while (true) {
    const std::string_view chunk = text.try_next().value();
    if (chunk.empty()) return out;
    out += chunk;
  }
}

TEST(SampledText, TakesAShortTextWhole) {
  const std::string text = made_up_text(5000);
  SampledText sampled(part_of(write_text("short.txt", text)), std::ssize(text));
  EXPECT_EQ(all_of(sampled), text);
}

TEST(SampledText, TakesChunksFromAllOverALongText) {
  const std::string text = made_up_text(12'000);
  SampledText sampled(part_of(write_text("long_sample.txt", text)), std::ssize(text) / 4);
  const std::string sample = all_of(sampled);
  EXPECT_LE(std::ssize(sample), std::ssize(text) / 4 + TextReader::kChunkBytes);
  EXPECT_GE(std::ssize(sample), std::ssize(text) / 4 - TextReader::kChunkBytes);
  EXPECT_EQ(sampled.read_bytes(), std::ssize(text));
}

// Chunks end at line ends, so these lines make every second chunk a small one.
TEST(SampledText, LinesAsLongAsAChunkAreSampledAsEvenly) {
  std::string text;
  for (char c = 'a'; c <= 'p'; ++c) text += std::string(TextReader::kChunkBytes - 1, c) + "\n";
  SampledText sampled(part_of(write_text("long_lines.txt", text)), std::ssize(text) / 4);
  const std::string sample = all_of(sampled);
  EXPECT_NEAR(static_cast<double>(sample.size()), static_cast<double>(text.size()) / 4, TextReader::kChunkBytes);
  for (const char* quarter : {"abcd", "efgh", "ijkl", "mnop"})
    EXPECT_NE(sample.find_first_of(quarter), std::string::npos) << quarter;
}

}  // namespace
}  // namespace plimsoll::data
