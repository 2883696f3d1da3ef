#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace plimsoll {

/// One attribute's value; the alternatives are the only types that attributes have.
using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

/// The settings of a node or kernel, by name and in the order of names, so that equal sets print equal.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> entries) : entries_(entries) {}

  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  void set(std::string name, Attribute value) { entries_.insert_or_assign(std::move(name), std::move(value)); }
  void erase(std::string_view name);

  /// Requires: the attribute exists with that type (the graph's verifier has put every default in).
  bool get_bool(std::string_view name) const;
  int64_t get_int(std::string_view name) const;
  double get_float(std::string_view name) const;
  const std::string& get_string(std::string_view name) const;
  const std::vector<int64_t>& get_ints(std::string_view name) const;

  /// The attribute, or nullptr.
  const Attribute* find(std::string_view name) const;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::map<std::string, Attribute, std::less<>> entries_;
};

/// The text in quotes and on one line: \" and \\ for these, \n and \t for newline and tab, \xHH for other control
/// bytes. All else, UTF-8 too, stands as it is.
std::string quote(std::string_view text);
/// Whether the text reads as a name without quotes: ASCII letters, digits and '_', one at least.
bool is_word(std::string_view text);

/// true, 3, 1e-05 (always with '.', 'e', inf or nan), "text" quoted, [1,2]
std::string to_string(const Attribute& value);

/// "{axis=-1, eps=1e-05}", names that are no words quoted, or "" where there is none.
std::string to_string(const Attributes& attributes);

}  // namespace plimsoll
