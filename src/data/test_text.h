#pragma once

#include <string>
#include <string_view>

#include "data/text.h"

namespace plimsoll::data {

/// Writes a file into the tests' temporary folder; returns its path.
std::string write_text(const std::string& name, std::string_view content);

/// All of a file.
TextPart part_of(const std::string& path);

/// The whole text of a part. Errors: as TextReader::try_next.
Result<std::string> read_all(const TextPart& part);

/// Lines of words from a small vocabulary, indented like a manual page, the same for the same count.
std::string made_up_text(int lines);

}  // namespace plimsoll::data
