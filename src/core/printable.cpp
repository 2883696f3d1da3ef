#include "core/printable.h"

#include "core/utf8.h"

namespace plimsoll {
namespace {

/// Names and values are shorter; what is longer is an accident, of which the start says enough.
constexpr size_t kMostNamed = 120;

/// The code points below a space, DEL, and U+0080 to U+009F, which terminals take for commands too.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

std::string escaped_controls(std::string_view text, std::string_view kept) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view next = text.substr(0, length == 0 ? 1 : length);
    const bool is_shown = length > 0 && (!is_control(next) || kept.find(next) != std::string_view::npos);
    out += is_shown ? std::string(next) : escaped(next);
    text.remove_prefix(next.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped_controls(text, ""); }

std::string printable_lines(std::string_view text) { return escaped_controls(text, "\n\t"); }

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  return std::string(utf8_prefix(text, most)) + "…";
}

std::string named(std::string_view text) { return "'" + printable(shortened(text, kMostNamed)) + "'"; }

}  // namespace plimsoll
