#include "core/attributes.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/check.h"

namespace plimsoll {

const Attribute* Attributes::find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second;
}

void Attributes::erase(std::string_view name) {
  if (const auto it = entries_.find(name); it != entries_.end()) entries_.erase(it);
}

namespace {

template <class T>
const T& get_as(const Attributes& attributes, std::string_view name) {
  const Attribute* value = attributes.find(name);
  PLIMSOLL_CHECK(value != nullptr && std::holds_alternative<T>(*value), "attribute ", name);
  return std::get<T>(*value);
}

std::string print(double number) {
  std::array<char, 32> buffer{};
  const auto [end, fault] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  PLIMSOLL_CHECK(fault == std::errc(), "to_chars");
  std::string out(buffer.data(), end);
  // An integer must not read back as one.
  if (out.find_first_of(".einf") == std::string::npos) out += ".0";
  return out;
}

}  // namespace

bool Attributes::get_bool(std::string_view name) const { return get_as<bool>(*this, name); }
int64_t Attributes::get_int(std::string_view name) const { return get_as<int64_t>(*this, name); }
double Attributes::get_float(std::string_view name) const { return get_as<double>(*this, name); }
const std::string& Attributes::get_string(std::string_view name) const { return get_as<std::string>(*this, name); }
const std::vector<int64_t>& Attributes::get_ints(std::string_view name) const {
  return get_as<std::vector<int64_t>>(*this, name);
}

std::string quote(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n' || c == '\t') {
      out += {'\\', c == '\n' ? 'n' : 't'};
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string to_string(const Attribute& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return print(v); }
    std::string operator()(const std::string& v) const { return quote(v); }
    std::string operator()(const std::vector<int64_t>& v) const {
      std::string out = "[";
      for (size_t i = 0; i < v.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(v[i]);
      return out + "]";
    }
  };
  return std::visit(Printer{}, value);
}

std::string to_string(const Attributes& attributes) {
  if (attributes.empty()) return "";
  std::string out;
  for (const auto& [name, value] : attributes)
    out += (out.empty() ? "{" : ", ") + (is_word(name) ? name : quote(name)) + "=" + to_string(value);
  return out + "}";
}

}  // namespace plimsoll
