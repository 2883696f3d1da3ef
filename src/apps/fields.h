#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace plimsoll::apps {

struct Field;
/// One fact or event, in the order that it is printed: what under --json becomes an object on one line.
using Fields = std::vector<Field>;

/// A field's value: nothing, a truth value, a number, text, or fields of its own.
class FieldValue {
 public:
  /// Fields through a pointer, as a field is not complete here.
  using Variant = std::variant<std::nullptr_t, bool, int64_t, double, std::string, std::shared_ptr<const Fields>>;

  FieldValue(std::nullptr_t) {}
  FieldValue(bool value) : value_(value) {}
  FieldValue(std::integral auto value) : value_(static_cast<int64_t>(value)) {}
  FieldValue(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  FieldValue(const char* text) : value_(std::string(text)) {}
  FieldValue(std::string text) : value_(std::move(text)) {}
  FieldValue(const Fields& fields);

  const Variant& get() const { return value_; }
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }

 private:
  Variant value_ = nullptr;
};

struct Field {
  std::string name;
  FieldValue value;
};

/// As a JSON object on one line. Names and text may hold any bytes; what is not UTF-8 is replaced, so that it is always
/// JSON. Numbers that are not finite are null.
std::string to_line(const Fields& fields);

/// Prints that line to standard output.
void print_json(const Fields& fields);

}  // namespace plimsoll::apps
