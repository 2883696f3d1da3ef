#include "core/utf8.h"

#include <algorithm>
#include <cstdint>

namespace plimsoll {
namespace {

constexpr size_t kLongest = 4;  // bytes of a character

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length that a first byte announces, 0 for one that starts no character.
size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// The least and greatest second byte: what rules out overlong forms, surrogates and code points that do not exist.
bool second_is_allowed(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0: return second >= 0xA0;
    case 0xED: return second < 0xA0;
    case 0xF0: return second >= 0x90;
    case 0xF4: return second < 0x90;
    default: return true;
  }
}

}  // namespace

size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = announced_length(first);
  if (length == 0 || length > text.size()) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), is_continuation)) return 0;
  if (length > 1 && !second_is_allowed(first, static_cast<unsigned char>(text[1]))) return 0;
  return length;
}

std::string_view utf8_prefix(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  for (size_t back = 0; back < kLongest && back < most; ++back) {
    if (!is_continuation(text[most - back])) return text.substr(0, most - back);
  }
  return text.substr(0, most);
}

size_t utf8_unfinished(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(kLongest - 1, text.size()); ++back) {
    const char c = text[text.size() - back];
    if (is_continuation(c)) continue;
    return announced_length(static_cast<unsigned char>(c)) > back ? back : 0;
  }
  return 0;
}

}  // namespace plimsoll
