#include "core/bytes.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace plimsoll {

std::string to_string(Bytes bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes.value);
  size_t unit = 0;
  while (std::abs(amount) >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 ? 0 : std::abs(amount) < 10 ? 2 : std::abs(amount) < 100 ? 1 : 0;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, amount, kUnits[unit]);
  return text.data();
}

namespace {

/// The factor of a unit, or 0 where it is none.
double unit_factor(std::string_view unit) {
  std::string lower;
  for (char c : unit) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.empty() || lower == "b") return 1;
  static constexpr std::string_view kPrefixes = "kmgt";
  const size_t power = kPrefixes.find(lower[0]);
  if (power == std::string_view::npos) return 0;
  const std::string_view rest = std::string_view(lower).substr(1);
  const bool is_binary = rest.empty() || rest == "ib";
  if (!is_binary && rest != "b") return 0;
  return std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

}  // namespace

Result<Bytes> try_parse_bytes(std::string_view text) {
  const auto refusal = [&](const char* why) {
    return invalid_argument(
        "size '" + std::string(text) + "' " + why +
        "; give a number and a unit (B, K, M, G, T, KiB, MiB, GiB, TiB, KB, MB, GB, TB), e.g. 2GiB");
  };
  std::string_view rest = text;
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front()))) rest.remove_prefix(1);
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back()))) rest.remove_suffix(1);
  double number = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
  if (fault == std::errc::result_out_of_range) return refusal("is too large");
  if (fault != std::errc() || !std::isfinite(number)) return refusal("is no number");
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front()))) rest.remove_prefix(1);
  const double factor = unit_factor(rest);
  if (factor == 0) return refusal("is no number with a known unit");
  const double total = number * factor;
  if (!(total >= 0)) return refusal("is negative");
  if (total >= 9.2e18) return refusal("is too large");
  return Bytes{static_cast<int64_t>(total)};
}

}  // namespace plimsoll
