#include "graph/text.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include "graph/verify.h"

namespace plimsoll::graph {
namespace {

std::string quoted(const std::string& text) { return plimsoll::to_string(Attribute(text)); }
std::string reference(ValueId id) { return "%" + std::to_string(id.value); }

template <class List, class Print>
std::string joined(const List& list, Print print) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + print(item);
  return out;
}

std::string to_line(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  std::string out = reference(id) + " = " + std::string(to_string(value.kind));
  if (value.is_trainable) out += " trainable";
  out += " " + quoted(value.name);
  if (value.kind == ValueKind::kConstant)
    out += " [" + joined(value.literal, [](double x) { return plimsoll::to_string(Attribute(x)); }) + "]";
  return out + " : " + plimsoll::to_string(value.desc) + "\n";
}

std::string to_line(const Graph& graph, const Node& node) {
  std::string out = joined(node.outputs, reference) + " = " + node.op + " " + quoted(node.name) + " " +
                    std::string(to_string(node.phase)) + " (" + joined(node.inputs, reference) + ")";
  if (!node.attributes.empty()) out += " " + plimsoll::to_string(node.attributes);
  if (!node.accumulated_outputs.empty())
    out += " accumulate(" + joined(node.accumulated_outputs, [](int i) { return std::to_string(i); }) + ")";
  return out + " : " + joined(node.outputs, [&](ValueId v) { return plimsoll::to_string(graph.value(v).desc); }) + "\n";
}

/// Reads one line of the text form, token by token. What returns nothing may have read a part of it: the line is
/// refused then.
class Cursor {
 public:
  explicit Cursor(std::string_view line) : rest_(line) { skip_space(); }

  bool at_end() const { return rest_.empty(); }

  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    advance(token.size());
    return true;
  }

  std::optional<std::string> word() {
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0) return std::nullopt;
    std::string out(rest_.substr(0, n));
    advance(n);
    return out;
  }

  std::optional<std::string> quoted_text() {
    if (!rest_.starts_with('"')) return std::nullopt;
    std::string out;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        advance(i + 1);
        return out;
      }
      if (rest_[i] == '\\' && ++i == rest_.size()) break;
      out += rest_[i];
    }
    return std::nullopt;
  }

  std::optional<int64_t> integer() {
    int64_t out = 0;
    const auto [end, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    if (fault != std::errc()) return std::nullopt;
    advance(static_cast<size_t>(end - rest_.data()));
    return out;
  }

  std::optional<int> reference() {
    if (!take("%")) return std::nullopt;
    const auto id = integer();
    return id && *id >= 0 && *id < INT32_MAX ? std::optional<int>(static_cast<int>(*id)) : std::nullopt;
  }

  /// An integer, or a floating-point number where it holds '.', 'e', "inf" or "nan".
  std::optional<Attribute> number() {
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '.' ||
                                rest_[n] == '-' || rest_[n] == '+'))
      ++n;
    const std::string_view token = rest_.substr(0, n);
    const char* end = token.data() + token.size();
    int64_t whole = 0;
    if (const auto r = std::from_chars(token.data(), end, whole); r.ec == std::errc() && r.ptr == end) {
      advance(n);
      return whole;
    }
    double real = 0;
    if (const auto r = std::from_chars(token.data(), end, real); r.ec == std::errc() && r.ptr == end) {
      advance(n);
      return real;
    }
    return std::nullopt;
  }

  std::optional<Attribute> attribute() {
    if (take("true")) return true;
    if (take("false")) return false;
    if (auto text = quoted_text()) return *text;
    if (take("[")) {
      std::vector<int64_t> list;
      while (!take("]")) {
        if (!list.empty() && !take(",")) return std::nullopt;
        const auto item = integer();
        if (!item) return std::nullopt;
        list.push_back(*item);
      }
      return list;
    }
    return number();
  }

  std::optional<Attributes> attributes() {
    Attributes out;
    if (!take("{")) return out;
    while (!take("}")) {
      if (!out.empty() && !take(",")) return std::nullopt;
      auto name = word();
      if (!name || !take("=")) return std::nullopt;
      auto value = attribute();
      if (!value) return std::nullopt;
      out.set(*name, *value);
    }
    return out;
  }

  std::optional<TensorDesc> desc() {
    const auto name = word();
    const auto dtype = name ? try_parse_dtype(*name) : std::nullopt;
    if (!dtype || !take("[")) return std::nullopt;
    Shape shape;
    while (!take("]")) {
      if (shape.rank() > 0 && !take(",")) return std::nullopt;
      const auto dim = integer();
      if (!dim || shape.rank() == Shape::kMaxRank) return std::nullopt;
      shape.push_back(*dim);
    }
    return TensorDesc{*dtype, shape, {}};
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  void advance(size_t n) {
    rest_.remove_prefix(n);
    skip_space();
  }

  std::string_view rest_;
};

/// Builds a graph from lines; ids in the text are looked up, so they need not be dense.
class Parser {
 public:
  Result<Graph> run(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      ++number;
      const size_t end = text.find('\n');
      Cursor line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.at_end()) continue;
      if (!parse_line(line) || !line.at_end())
        return corrupt("[graph] line " + std::to_string(number) + " is not of the text form");
    }
    PLIMSOLL_RETURN_IF_ERROR(verify(graph_));
    return std::move(graph_);
  }

 private:
  bool parse_line(Cursor& line) {
    if (line.take("graph")) {
      const auto name = line.quoted_text();
      if (name) graph_ = Graph(*name);
      return name.has_value();
    }
    if (line.take("output")) {
      const auto name = line.quoted_text();
      const auto value = known(line.reference());
      if (name && value) graph_.add_output(*name, *value);
      return name && value;
    }
    if (line.take("update")) {
      const auto state = known(line.reference());
      if (!state || !line.take("<-")) return false;
      const auto next = known(line.reference());
      if (next) graph_.add_update(*state, *next);
      return next.has_value();
    }
    if (line.take("check")) {
      const auto value = known(line.reference());
      const auto what = line.quoted_text();
      if (value && what) graph_.add_check(*value, *what);
      return value && what;
    }
    return parse_definition(line);
  }

  bool parse_definition(Cursor& line) {
    std::vector<int> ids;
    while (!line.take("=")) {
      if (!ids.empty() && !line.take(",")) return false;
      const auto id = line.reference();
      if (!id || ids_.contains(*id)) return false;
      ids.push_back(*id);
    }
    const auto op = line.word();
    if (!op) return false;
    for (const ValueKind kind :
         {ValueKind::kInput, ValueKind::kParameter, ValueKind::kState, ValueKind::kScalar, ValueKind::kConstant})
      if (*op == to_string(kind)) return ids.size() == 1 && parse_leaf(line, kind, ids[0]);
    return parse_node(line, *op, ids);
  }

  bool parse_leaf(Cursor& line, ValueKind kind, int id) {
    const bool is_trainable = line.take("trainable");
    const auto name = line.quoted_text();
    if (!name || graph_.find_value(*name).is_valid()) return false;
    std::vector<double> literal;
    if (kind == ValueKind::kConstant) {
      if (!line.take("[")) return false;
      while (!line.take("]")) {
        if (!literal.empty() && !line.take(",")) return false;
        const auto number = line.number();
        if (!number) return false;
        const auto* whole = std::get_if<int64_t>(&*number);
        literal.push_back(whole ? static_cast<double>(*whole) : std::get<double>(*number));
      }
    }
    if (!line.take(":")) return false;
    const auto desc = line.desc();
    if (!desc || !desc->shape.try_numel()) return false;
    if (kind != ValueKind::kConstant) {
      ids_[id] = graph_.add_leaf(kind, *name, *desc, is_trainable);
      return true;
    }
    if (static_cast<int64_t>(literal.size()) != desc->numel()) return false;
    ids_[id] = graph_.add_constant(*name, *desc, std::move(literal));
    return true;
  }

  bool parse_node(Cursor& line, const std::string& op, const std::vector<int>& ids) {
    Node node{.op = op};
    const auto name = line.quoted_text();
    const auto phase = line.word();
    if (!name || !phase || graph_.unique_node_name(*name) != *name) return false;
    node.name = *name;
    const auto parsed_phase = parse_phase(*phase);
    if (!parsed_phase || !line.take("(")) return false;
    node.phase = *parsed_phase;
    while (!line.take(")")) {
      if (!node.inputs.empty() && !line.take(",")) return false;
      const auto input = known(line.reference());
      if (!input) return false;
      node.inputs.push_back(*input);
    }
    auto attributes = line.attributes();
    if (!attributes) return false;
    node.attributes = std::move(*attributes);
    if (line.take("accumulate(")) {
      while (!line.take(")")) {
        if (!node.accumulated_outputs.empty() && !line.take(",")) return false;
        const auto index = line.integer();
        if (!index || *index < 0 || *index > 1000) return false;
        node.accumulated_outputs.push_back(static_cast<int>(*index));
      }
    }
    if (!line.take(":")) return false;
    std::vector<TensorDesc> descs;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i > 0 && !line.take(",")) return false;
      const auto desc = line.desc();
      if (!desc) return false;
      descs.push_back(*desc);
    }
    const NodeId id = graph_.add_node(std::move(node), descs);
    for (size_t i = 0; i < ids.size(); ++i) ids_[ids[i]] = graph_.node(id).outputs[i];
    return true;
  }

  static std::optional<Phase> parse_phase(std::string_view word) {
    for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kUpdate})
      if (word == to_string(phase)) return phase;
    return std::nullopt;
  }

  std::optional<ValueId> known(std::optional<int> id) const {
    if (!id) return std::nullopt;
    const auto it = ids_.find(*id);
    return it == ids_.end() ? std::nullopt : std::optional(it->second);
  }

  Graph graph_;
  std::unordered_map<int, ValueId> ids_;
};

}  // namespace

std::string to_text(const Graph& graph) {
  std::string out = "graph " + quoted(graph.name()) + "\n";
  for (size_t i = 0; i < graph.values().size(); ++i)
    if (graph.values()[i].kind != ValueKind::kComputed) out += to_line(graph, ValueId{static_cast<int32_t>(i)});
  for (const Node& node : graph.nodes()) out += to_line(graph, node);
  for (const Output& output : graph.outputs())
    out += "output " + quoted(output.name) + " " + reference(output.value) + "\n";
  for (const StateUpdate& update : graph.updates())
    out += "update " + reference(update.state) + " <- " + reference(update.next) + "\n";
  for (const FiniteCheck& check : graph.checks())
    out += "check " + reference(check.value) + " " + quoted(check.what) + "\n";
  return out;
}

Result<Graph> try_parse_graph(std::string_view text) { return Parser().run(text); }

}  // namespace plimsoll::graph
