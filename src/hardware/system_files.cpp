#include "hardware/system_files.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>

namespace plimsoll::hardware {

std::optional<std::string> try_read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return std::nullopt;
  return text;
}

std::optional<int64_t> try_parse_number(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<int64_t>::max();
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<int64_t> try_read_number(const std::string& path) {
  const auto text = try_read_text(path);
  return text ? try_parse_number(*text) : std::nullopt;
}

std::optional<int64_t> try_find_number(std::string_view text, std::string_view key) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t')) continue;
    const auto value = try_parse_number(rest);
    return value && rest.ends_with(" kB") ? *value * 1024 : value;
  }
  return std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  for (size_t end = 0; end != std::string_view::npos; start = end + 1) {
    end = text.find(separator, start);
    parts.push_back(text.substr(start, end == std::string_view::npos ? end : end - start));
  }
  return parts;
}

}  // namespace plimsoll::hardware
