#pragma once

#include <cstddef>
#include <string_view>

namespace plimsoll::data {

/// How text is cut before sentencepiece sees it, the same in training and in use.
///
/// Sentencepiece replaces bytes that are not UTF-8 and takes its own space mark (U+2581) in the text for a space. Both,
/// and control characters, go around it as single bytes; then no text is changed.

/// The space mark: pieces hold it where the text holds a space.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// Bytes that one encode takes at most; also sentencepiece's limit for a sentence in training (4192) with room to
/// spare.
inline constexpr size_t kLongestLine = 4096;

/// The first line of `text`, the line ends *before* it included, at most kLongestLine bytes. Requires: !text.empty().
std::string_view first_line(std::string_view text);

/// The bytes at the start of `text` that sentencepiece keeps as they are; 0 where the first byte must go around it.
size_t safe_length(std::string_view text);

}  // namespace plimsoll::data
