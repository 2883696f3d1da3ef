#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::hardware {

/// Where the system's files are read from: "" is the machine itself; a test puts a folder of fixtures before /proc and
/// /sys.
struct SystemRoot {
  std::string prefix;

  std::string path(std::string_view absolute) const { return prefix + std::string(absolute); }
};

/// The whole text of a file of /proc or /sys (their reported sizes are not to be trusted), or nothing if it can't be
/// read.
std::optional<std::string> try_read_text(const std::string& path);

/// The number at the start of a file, or nothing where there is none ("max" included).
std::optional<int64_t> try_read_number(const std::string& path);

/// The number at the start of a text after blanks, held to the largest int64 where it is larger, or nothing.
std::optional<int64_t> try_parse_number(std::string_view text);

/// The number behind `key` in lines of "key number" or "Key: number kB"; kB is multiplied out. Nothing where absent.
std::optional<int64_t> try_find_number(std::string_view text, std::string_view key);

std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace plimsoll::hardware
