// What the tests of this folder share; compiled into the test executable only.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/philox.h"
#include "data/test_text.h"

namespace plimsoll::data {

std::string write_text(const std::string& name, std::string_view content) {
  std::string path = testing::TempDir() + "/plimsoll_data_" + name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

TextPart part_of(const std::string& path) {
  return {.ranges = {{path, 0, static_cast<int64_t>(std::filesystem::file_size(path))}}};
}

Result<std::string> read_all(const TextPart& part) {
  TextReader reader(part);
  std::string text;
  while (true) {
    PLIMSOLL_ASSIGN(const std::string_view chunk, reader.try_next());
    if (chunk.empty()) return text;
    text += chunk;
  }
}

std::string made_up_text(int lines) {
  constexpr std::array<std::string_view, 24> kParts{"load",  "ship", "mark", "the ", "of ", "deep", "line", "er ",
                                                    "ing ",  "ed ",  "un",   "re",   "sea", "hull", "s ",   "a ",
                                                    "safe ", "ly ",  "far ", "may ", "in",  "to ",  "is ",  "pre"};
  std::string text;
  for (int line = 0; line < lines; ++line) {
    text += line % 9 == 0 ? "\n" : "       ";
    for (uint64_t part = 0; part < 14; ++part) {
      text += kParts[Philox(7)(part, static_cast<uint64_t>(line))[0] % kParts.size()];
    }
    text += line % 20 == 19 ? "\n\f" : "\n";
  }
  return text;
}

}  // namespace plimsoll::data
