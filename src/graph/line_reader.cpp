#include "graph/line_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace plimsoll::graph {
namespace {

/// The whole token as a number, or nothing.
template <class Number>
std::optional<Number> try_parse(std::string_view token) {
  Number out{};
  const auto [end, fault] = std::from_chars(token.data(), token.data() + token.size(), out);
  return fault == std::errc() && end == token.data() + token.size() ? std::optional(out) : std::nullopt;
}

/// The characters from the start on that are letters, digits, '_' or one of `others`.
std::string_view token_of(std::string_view text, std::string_view others) {
  size_t n = 0;
  while (n < text.size() && (is_word(text.substr(n, 1)) || others.find(text[n]) != std::string_view::npos)) ++n;
  return text.substr(0, n);
}

}  // namespace

void LineReader::fail(std::string fault) {
  if (!ok()) return;
  fault_ = std::move(fault);
  rest_ = {};
}

void LineReader::expected(const std::string& what) {
  constexpr size_t kShown = 24;
  const std::string_view rest = rest_.substr(0, kShown);
  fail("expected " + what + (rest.empty() ? ", but the line ends" : ", not " + quote(rest)));
}

void LineReader::skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

void LineReader::advance(size_t n) {
  rest_.remove_prefix(n);
  skip_space();
}

bool LineReader::take(std::string_view token) {
  if (!at(token)) return false;
  advance(token.size());
  return true;
}

void LineReader::expect(std::string_view token) {
  if (!take(token)) expected("'" + std::string(token) + "'");
}

void LineReader::expect_end() {
  if (!at_end()) expected("the end of the line");
}

std::string LineReader::word() {
  std::string out(token_of(rest_, ""));
  if (out.empty()) return expected("a name"), out;
  advance(out.size());
  return out;
}

std::string LineReader::word_or_quoted() { return at("\"") ? quoted() : word(); }

std::string LineReader::quoted() {
  std::string out;
  if (!at("\"")) return expected("text in quotes"), out;
  std::string_view rest = rest_.substr(1);
  while (ok() && !rest.starts_with('"')) {
    if (rest.empty()) return expected("text with a quote at its end"), std::string();
    if (rest.front() != '\\') {
      out += rest.front();
      rest.remove_prefix(1);
    } else {
      out += escaped(rest);
    }
  }
  if (!ok()) return {};
  rest_ = rest.substr(1);
  skip_space();
  return out;
}

/// What the backslash in front means.
char LineReader::escaped(std::string_view& rest) {
  const char kind = rest.size() > 1 ? rest[1] : '\0';
  if (kind == 'x') {
    const std::string_view digits = rest.substr(0, 4).substr(2);
    unsigned value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (fault == std::errc() && digits.size() == 2 && end == digits.data() + 2) {
      rest.remove_prefix(4);
      return static_cast<char>(value);
    }
  } else if (constexpr std::string_view kKinds = "\"\\nt"; kKinds.find(kind) != std::string_view::npos) {
    rest.remove_prefix(2);
    return "\"\\\n\t"[kKinds.find(kind)];
  }
  rest_ = rest;
  expected(R"(\", \\, \n, \t or \xHH after a backslash)");
  return '\0';
}

int64_t LineReader::integer(int64_t least, int64_t most) {
  const std::string_view token = token_of(rest_, "-");
  const auto out = try_parse<int64_t>(token);
  if (!out || *out < least || *out > most)
    return expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most)), 0;
  advance(token.size());
  return *out;
}

int32_t LineReader::reference() {
  expect("%");
  return static_cast<int32_t>(integer(0, std::numeric_limits<int32_t>::max()));
}

Attribute LineReader::number() {
  const std::string_view token = token_of(rest_, ".+-");
  const auto whole = try_parse<int64_t>(token);
  const auto real = whole ? std::nullopt : try_parse<double>(token);
  if (!whole && !real) return expected("a number"), int64_t{0};
  advance(token.size());
  return whole ? Attribute(*whole) : Attribute(*real);
}

double LineReader::real() {
  const Attribute out = number();
  const auto* whole = std::get_if<int64_t>(&out);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(out);
}

void LineReader::list(std::string_view open, std::string_view close, const std::function<void()>& read) {
  expect(open);
  for (bool is_first = true; ok() && !take(close); is_first = false) {
    if (!is_first) expect(",");
    read();
  }
}

Attribute LineReader::attribute() {
  if (take("true")) return true;
  if (take("false")) return false;
  if (at("\"")) return quoted();
  if (!at("[")) return number();
  std::vector<int64_t> items;
  using Limits = std::numeric_limits<int64_t>;
  list("[", "]", [&] { items.push_back(integer(Limits::min(), Limits::max())); });
  return items;
}

Attributes LineReader::attributes() {
  Attributes out;
  if (!at("{")) return out;
  list("{", "}", [&] {
    std::string name = word_or_quoted();
    expect("=");
    Attribute value = attribute();
    if (out.has(name)) fail("attribute " + quote(name) + " occurs twice");
    out.set(std::move(name), std::move(value));
  });
  return out;
}

Shape LineReader::shape() {
  Shape out;
  list("[", "]", [&] {
    const int64_t extent = integer(0, std::numeric_limits<int64_t>::max());
    if (out.rank() == Shape::kMaxRank) return fail("a shape has " + std::to_string(Shape::kMaxRank) + " axes at most");
    out.push_back(extent);
  });
  return out;
}

Layout LineReader::layout(int rank) {
  Layout out;
  if (!take("plain")) {
    out.is_permuted = true;
    size_t axis = 0;
    list("order(", ")", [&] {
      if (axis == out.order.size()) return fail("a layout's order names every axis once");
      out.order[axis++] = static_cast<int8_t>(integer(0, rank - 1));
    });
    if (axis != static_cast<size_t>(rank)) fail("a layout's order names every axis once");
  }
  size_t block = 0;
  while (take("+")) {
    if (block == out.blocks.size()) return fail("a layout has too many blocks"), out;
    // "1x8" is one token to whoever reads whole numbers.
    const auto axis = static_cast<int8_t>(token_of(rest_, "").find('x') == 1 ? rest_[0] - '0' : -1);
    if (axis < 0 || axis >= rank) return expected("a block, such as 1x8"), out;
    advance(2);
    out.blocks[block++] = {axis, static_cast<int32_t>(integer(1, std::numeric_limits<int32_t>::max()))};
  }
  return out;
}

TensorDesc LineReader::desc() {
  TensorDesc out;
  const std::string name = word();
  if (const auto dtype = try_parse_dtype(name))
    out.dtype = *dtype;
  else
    fail("there is no dtype " + quote(name));
  out.shape = shape();
  if (take("@")) out.layout = layout(out.shape.rank());
  if (ok() && !try_size_bytes(out)) fail(to_string(out) + " has no size: too large, or a layout that makes no sense");
  return out;
}

}  // namespace plimsoll::graph
