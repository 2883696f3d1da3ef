#include "report/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace plimsoll::report {
namespace {

/// Three digits: 1.26, 12.6, 126.
std::string three_digits(double number) {
  const double size = std::abs(number);
  // Decided on the rounded number, so that 9.996 is "10.0" and not "10.00".
  return fmt::format("{:.{}f}", number, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string to_duration(double seconds) {
  if (!(seconds >= 0) || std::isinf(seconds)) return "?";
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  if (seconds < 1e15) {
    const auto whole = static_cast<int64_t>(std::llround(seconds));
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    const int64_t minutes = (whole + 30) / 60;
    if (minutes < 48 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
    return fmt::format("{} d {:02} h", minutes / 1440, minutes % 1440 / 60);
  }
  return "?";
}

std::string to_quantity(double number) {
  if (!std::isfinite(number)) return "?";
  constexpr std::array<const char*, 5> kPrefixes{"", " k", " M", " G", " T"};
  size_t prefix = 0;
  while (std::abs(number) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    number /= 1000;
    ++prefix;
  }
  const bool is_whole = prefix == 0 && number == std::floor(number);
  return (is_whole ? fmt::format("{:.0f}", number) : three_digits(number)) + kPrefixes[prefix];
}

std::string to_quantity(double number, const std::string& unit) {
  const std::string text = to_quantity(number);
  return text + (text.find(' ') == std::string::npos ? " " : "") + unit;
}

std::string to_rate(double per_s, const std::string& unit) { return to_quantity(per_s) + " " + unit + "/s"; }

std::string to_share(int64_t part, int64_t whole) {
  if (whole <= 0) return "0.0 %";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string to_words(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace plimsoll::report
