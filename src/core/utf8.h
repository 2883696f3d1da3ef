#pragma once

#include <cstddef>
#include <string_view>

namespace plimsoll {

/// The length of the UTF-8 character at the start of `text`, or 0 where its bytes are none (or it is cut off).
///
/// Overlong forms, surrogates and code points above U+10FFFF are no characters. Requires: !text.empty().
size_t utf8_length(std::string_view text);

/// The longest prefix of at most `most` bytes that cuts no character in two; at least one byte. Requires: most > 0.
std::string_view utf8_prefix(std::string_view text, size_t most);

/// How many bytes at the end of `text` begin a character whose rest is missing; 0 where it ends with a whole one.
size_t utf8_unfinished(std::string_view text);

}  // namespace plimsoll
