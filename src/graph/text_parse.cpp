#include <map>
#include <span>
#include <unordered_set>

#include "graph/line_reader.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace plimsoll::graph {
namespace {

/// Collects values and nodes line by line and makes the graph of them at the end, so that each value gets the number
/// that the text gives it.
class Parser {
 public:
  Result<Graph> run(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const size_t end = text.find('\n');
      LineReader line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (!line.at_end()) parse_line(line);
      if (line.ok()) line.expect_end();
      if (!line.ok()) return fault_in(line_, line.fault());
    }
    if (!has_name_) return fault_in(1, "expected 'graph' and the graph's name");
    PLIMSOLL_RETURN_IF_ERROR(check_numbers());
    Graph graph = assemble();
    PLIMSOLL_RETURN_IF_ERROR(verify(graph));
    return graph;
  }

 private:
  struct Definition {
    Value value;
    int line = 0;
  };
  struct Use {
    int32_t value = 0;
    int line = 0;
  };

  static Error fault_in(int line, const std::string& what) {
    return corrupt("[graph] line " + std::to_string(line) + ": " + what);
  }

  void parse_line(LineReader& line) {
    if (!has_name_) return parse_name(line);
    if (line.take("output")) {
      std::string name = line.quoted();
      outputs_.push_back({std::move(name), use(line)});
    } else if (line.take("update")) {
      const ValueId state = use(line);
      line.expect("<-");
      updates_.push_back({state, use(line)});
    } else if (line.take("check")) {
      const ValueId value = use(line);
      checks_.push_back({value, line.quoted()});
    } else {
      parse_definition(line);
    }
  }

  void parse_name(LineReader& line) {
    line.expect("graph");
    name_ = line.quoted();
    has_name_ = true;
  }

  ValueId use(LineReader& line) {
    const ValueId id{line.reference()};
    uses_.push_back({id.value, line_});
    return id;
  }

  void define(LineReader& line, ValueId id, Value value) {
    if (!line.ok()) return;
    if (!names_.insert(value.name).second) return line.fail("there is another value " + quote(value.name));
    if (!values_.try_emplace(id.value, Definition{std::move(value), line_}).second)
      line.fail("%" + std::to_string(id.value) + " is defined twice");
  }

  void parse_definition(LineReader& line) {
    std::vector<ValueId> ids;
    line.list("", "=", [&] { ids.push_back({line.reference()}); });
    if (line.at("\"")) return parse_node(line, line.quoted(), std::move(ids));
    const std::string op = line.word();
    for (const ValueKind kind :
         {ValueKind::kInput, ValueKind::kParameter, ValueKind::kState, ValueKind::kScalar, ValueKind::kConstant})
      if (op == to_string(kind)) return parse_leaf(line, kind, ids);
    parse_node(line, op, std::move(ids));
  }

  void parse_leaf(LineReader& line, ValueKind kind, std::span<const ValueId> ids) {
    if (ids.size() != 1) return line.fail("one value is defined at a time, unless by a node");
    Value value{.kind = kind};
    value.is_trainable = line.take("trainable");
    value.name = line.quoted();
    if (kind == ValueKind::kConstant) line.list("[", "]", [&] { value.literal.push_back(line.real()); });
    line.expect(":");
    value.desc = line.desc();
    if (kind == ValueKind::kConstant && line.ok() && static_cast<int64_t>(value.literal.size()) != value.desc.numel())
      line.fail("the constant has " + std::to_string(value.literal.size()) + " elements for " +
                plimsoll::to_string(value.desc));
    define(line, ids[0], std::move(value));
  }

  void parse_node(LineReader& line, std::string op, std::vector<ValueId> ids) {
    Node node{.op = std::move(op)};
    node.name = line.quoted();
    if (!node_names_.insert(node.name).second) line.fail("there is another node " + quote(node.name));
    node.phase = parse_phase(line);
    line.list("(", ")", [&] { node.inputs.push_back(use(line)); });
    node.attributes = line.attributes();
    if (line.take("accumulate"))
      line.list("(", ")", [&] {
        node.accumulated_outputs.push_back(static_cast<int>(line.integer(0, static_cast<int64_t>(ids.size()) - 1)));
      });
    line.expect(":");
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i > 0) line.expect(",");
      const int index = static_cast<int>(i);
      define(line, ids[i],
             {.name = output_name(node.name, index),
              .desc = line.desc(),
              .producer = NodeId{static_cast<int32_t>(nodes_.size())},
              .output_index = index});
    }
    node.outputs = std::move(ids);
    nodes_.push_back(std::move(node));
  }

  static Phase parse_phase(LineReader& line) {
    const std::string word = line.word();
    for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kUpdate})
      if (word == to_string(phase)) return phase;
    line.fail("expected forward, backward or update, not " + quote(word));
    return {};
  }

  /// Values are numbered from 0 without gaps, and every use is of one of them.
  Status check_numbers() const {
    const auto count = static_cast<int32_t>(values_.size());
    for (const auto& [id, definition] : values_)
      if (id >= count)
        return fault_in(definition.line, "%" + std::to_string(id) + " is too high a number: the text defines " +
                                             std::to_string(count) + " values, from %0 on");
    for (const Use& use : uses_)
      if (use.value >= count) return fault_in(use.line, "%" + std::to_string(use.value) + " is not defined");
    return {};
  }

  Graph assemble() {
    std::vector<Value> values;
    for (auto& [id, definition] : values_) values.push_back(std::move(definition.value));
    Graph graph(std::move(name_), std::move(values), std::move(nodes_));
    for (Output& output : outputs_) graph.add_output(std::move(output.name), output.value);
    for (const StateUpdate& update : updates_) graph.add_update(update.state, update.next);
    for (FiniteCheck& check : checks_) graph.add_check(check.value, std::move(check.what));
    return graph;
  }

  int line_ = 0;
  bool has_name_ = false;
  std::string name_;
  std::map<int32_t, Definition> values_;
  std::vector<Node> nodes_;
  std::vector<Output> outputs_;
  std::vector<StateUpdate> updates_;
  std::vector<FiniteCheck> checks_;
  std::vector<Use> uses_;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> node_names_;
};

}  // namespace

Result<Graph> try_parse_graph(std::string_view text) { return Parser().run(text); }

}  // namespace plimsoll::graph
