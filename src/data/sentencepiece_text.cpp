#include "data/sentencepiece_text.h"

#include <algorithm>

#include "core/utf8.h"

namespace plimsoll::data {
namespace {

// U+2581, the space mark, and U+2585, which the trainer keeps for itself.
constexpr std::string_view kReservedMark = "\xE2\x96\x85";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; }

}  // namespace

std::string_view first_line(std::string_view text) {
  const size_t start = std::min(text.find_first_not_of('\n'), text.size());
  const size_t end = std::min(text.find('\n', start), text.size());
  return utf8_prefix(text.substr(0, end), kLongestLine);
}

size_t safe_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const std::string_view rest = text.substr(length);
    const size_t character = utf8_length(rest);
    if (character == 0 || is_control(rest[0]) || rest.starts_with(kSpaceMark) || rest.starts_with(kReservedMark)) break;
    length += character;
  }
  return length;
}

}  // namespace plimsoll::data
