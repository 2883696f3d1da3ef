#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attributes.h"
#include "core/tensor_desc.h"

namespace plimsoll::graph {

/// Reads one line of the text form, token by token; spaces between tokens do not matter.
///
/// The first thing that is not as expected is the line's fault. From then on every read gives a default and takes
/// nothing, so that a reader of lines may look at the fault once, at the end.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) { skip_space(); }

  bool ok() const { return fault_.empty(); }
  /// What was expected and what stands there, or "".
  const std::string& fault() const { return fault_; }
  /// Makes this the line's fault, unless it has one already.
  void fail(std::string fault);

  /// Whether the line goes on with the token.
  bool at(std::string_view token) const { return rest_.starts_with(token); }
  bool at_end() const { return rest_.empty(); }
  /// Takes the token if the line goes on with it.
  bool take(std::string_view token);
  /// Takes the token; a fault where something else stands there.
  void expect(std::string_view token);
  /// A fault where anything is left.
  void expect_end();

  /// Letters, digits and '_'.
  std::string word();
  /// As `quote` writes it.
  std::string quoted();
  /// `quoted` where the line goes on with a quote, else `word`.
  std::string word_or_quoted();
  /// Within [least, most].
  int64_t integer(int64_t least, int64_t most);
  /// A value's number, after '%'.
  int32_t reference();
  /// A floating-point number, "inf" and "nan" among them.
  double real();
  /// A number, a truth value, a quoted text, or a list of whole numbers in brackets.
  Attribute attribute();
  /// Nothing, or what stands in braces.
  Attributes attributes();
  /// Dtype, shape and layout, as to_string writes them.
  TensorDesc desc();

  /// What stands between `open` and `close`, one `read` an item, with commas between.
  void list(std::string_view open, std::string_view close, const std::function<void()>& read);

 private:
  void skip_space();
  void advance(size_t n);
  void expected(const std::string& what);
  char escaped(std::string_view& rest);
  /// An integer, or a floating-point number where it holds '.', 'e', "inf" or "nan".
  Attribute number();
  Shape shape();
  Layout layout(int rank);

  std::string_view rest_;
  std::string fault_;
};

}  // namespace plimsoll::graph
