#include "graph/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/philox.h"

namespace plimsoll::graph {
namespace {

using Limits = std::numeric_limits<double>;

constexpr const char* kTiny = R"(graph "tiny \"one\""
%0 = input "x" : f32[2,3]
%1 = parameter trainable "w" : f32[3,4]
%2 = scalar "lr" : f32[]
%3 = constant "c" [0.5, 2.0] : f32[2]
%4 = matmul "fc" forward (%0, %1) {transpose_b=false, eps=1e-05, axes=[0,-1], mode="a"} : f32[2,4]
%5 = matmul "fc.grad" backward (%0, %4, %1) {k=1.0} accumulate(0) : f32[3,4]
%6, %7 = pair "p" update (%5, %2) : f32[3,4], f32[]
output "y" %4
update %1 <- %6
check %7 "norm"
)";

/// One byte of each kind, and characters of two to four bytes.
std::string every_character() {
  std::string out;
  for (int byte = 0; byte < 256; ++byte) out += static_cast<char>(byte);
  return out + "é€𝄞\r\n\t\\\"";
}

TensorDesc blocked() {
  TensorDesc out{DType::kBF16, {2, 3, 5, 7}, {}};
  out.layout.is_permuted = true;
  out.layout.order = {0, 2, 3, 1};
  out.layout.blocks[0] = {1, 8};
  out.layout.blocks[1] = {0, 2};
  return out;
}

/// Everything that a graph can hold, in an order of values that its lines do not have.
Graph make_full_graph() {
  const std::string odd = every_character();
  const TensorDesc scalar{DType::kF32, {}, {}};
  TensorDesc padded{DType::kF32, {7}, {}};
  padded.layout.blocks[0] = {0, 4};
  Graph graph(odd);
  const ValueId input = graph.add_leaf(ValueKind::kInput, odd, blocked());
  Node first{.op = "f", .name = odd + "node", .inputs = {input}};
  first.attributes = {{"yes", true},
                      {"no", false},
                      {"least", std::numeric_limits<int64_t>::min()},
                      {"whole", 1.0},
                      {"text", odd},
                      {"none", std::vector<int64_t>{}},
                      {"some", std::vector<int64_t>{0, -1, std::numeric_limits<int64_t>::max()}},
                      {"", std::string()},
                      {odd, 0.1},
                      {"infinite", -Limits::infinity()}};
  const NodeId made = graph.add_node(std::move(first), std::vector{padded, scalar});
  const ValueId parameter = graph.add_leaf(ValueKind::kParameter, "w", padded, true);
  const ValueId frozen = graph.add_leaf(ValueKind::kParameter, "frozen", {DType::kI64, {0, 3}, {}});
  graph.add_leaf(ValueKind::kState, "state", {DType::kBool, {1, 1, 1, 1, 1, 1, 1, 1}, {}});
  const ValueId rate = graph.add_leaf(ValueKind::kScalar, "rate", scalar);
  graph.add_constant("c", {DType::kF64, {6}, {}},
                     {-0.0, Limits::denorm_min(), Limits::max(), Limits::quiet_NaN(), -Limits::infinity(), 1e22});
  graph.add_node({.op = "input", .name = "", .phase = Phase::kBackward, .inputs = {frozen}}, std::vector{padded});
  const ValueId accumulator = graph.find_value("");
  graph.add_node({.op = odd, .name = "w", .inputs = {rate}}, {});  // a node without outputs may be named as a value
  graph.add_outputs(made, std::vector{scalar});
  graph.add_node({.op = "g",
                  .name = "update",
                  .phase = Phase::kUpdate,
                  .inputs = {graph.node(made).outputs[0], accumulator},
                  .accumulated_outputs = {1}},
                 std::vector{padded, padded});
  graph.add_output(odd, input);
  graph.add_output(odd, parameter);
  graph.add_update(parameter, graph.find_value("update"));
  graph.add_check(graph.node(made).outputs[2], odd);
  return graph;
}

void expect_equal(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.values().size(), b.values().size());
  for (size_t i = 0; i < a.values().size(); ++i) {
    const Value &x = a.values()[i], &y = b.values()[i];
    EXPECT_EQ(std::tie(x.name, x.desc, x.kind, x.is_trainable, x.producer, x.output_index),
              std::tie(y.name, y.desc, y.kind, y.is_trainable, y.producer, y.output_index));
    ASSERT_EQ(x.literal.size(), y.literal.size());
    for (size_t k = 0; k < x.literal.size(); ++k)
      EXPECT_TRUE(std::isnan(x.literal[k])
                      ? std::isnan(y.literal[k])
                      : x.literal[k] == y.literal[k] && std::signbit(x.literal[k]) == std::signbit(y.literal[k]));
  }
  ASSERT_EQ(a.nodes().size(), b.nodes().size());
  for (size_t i = 0; i < a.nodes().size(); ++i) {
    const Node &x = a.nodes()[i], &y = b.nodes()[i];
    EXPECT_EQ(std::tie(x.op, x.name, x.phase, x.attributes, x.inputs, x.outputs, x.accumulated_outputs),
              std::tie(y.op, y.name, y.phase, y.attributes, y.inputs, y.outputs, y.accumulated_outputs));
  }
  EXPECT_EQ(a.name(), b.name());
  EXPECT_TRUE(std::ranges::equal(a.outputs(), b.outputs()));
  EXPECT_TRUE(std::ranges::equal(a.updates(), b.updates()));
  EXPECT_TRUE(std::ranges::equal(a.checks(), b.checks()));
}

std::string fault_of(const std::string& text) {
  const auto result = try_parse_graph(text);
  return result.ok() ? "" : result.error().message;
}

TEST(Text, RoundTripsAsWritten) {
  const auto graph = try_parse_graph(kTiny);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(graph->node(NodeId{1}).accumulated_outputs, std::vector<int>{0});
  EXPECT_EQ(graph->value(graph->find_value("c")).literal, (std::vector<double>{0.5, 2.0}));
  const auto again = try_parse_graph(to_text(*graph));
  ASSERT_TRUE(again.ok()) << again.error().message;
  expect_equal(*graph, *again);
}

TEST(Text, RoundTripsWhateverAGraphHolds) {
  const Graph graph = make_full_graph();
  const std::string text = to_text(graph);
  const auto again = try_parse_graph(text);
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  expect_equal(graph, *again);
  EXPECT_EQ(to_text(*again), text);
}

TEST(Text, IsOneLineAnItem) {
  const std::string text = to_text(make_full_graph());
  // The name, leaves, nodes, outputs, updates, checks.
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 6 + 4 + 2 + 1 + 1);
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST(Text, LayoutsThatDifferPrintDifferently) {
  TensorDesc desc{DType::kF32, {4, 4}, {}};
  EXPECT_EQ(plimsoll::to_string(desc), "f32[4,4]");
  desc.layout.is_permuted = true;
  desc.layout.order = {0, 1};
  EXPECT_EQ(plimsoll::to_string(desc), "f32[4,4]@order(0,1)");
  desc.layout.blocks[0] = {1, 8};
  EXPECT_EQ(plimsoll::to_string(desc), "f32[4,4]@order(0,1)+1x8");
  desc.layout.is_permuted = false;
  desc.layout.order = {};
  EXPECT_EQ(plimsoll::to_string(desc), "f32[4,4]@plain+1x8");
}

TEST(Text, NamesTheLineThatIsWrong) {
  for (const auto& [line, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {"%0 = input x : f32[1]", "expected text in quotes, not \"x : f32[1]\""},
           {"%0 = input \"x", "expected text with a quote at its end"},
           {"%0 = input \"\\q\" : f32[1]", "after a backslash"},
           {"%0 = input \"\\x0\" : f32[1]", "after a backslash"},
           {"%0 = input \"x\" : f99[1]", "there is no dtype \"f99\""},
           {"%0 = input \"x\" : f32[-1]", "expected a whole number from 0"},
           {"%0 = input \"x\" : f32[1,1,1,1,1,1,1,1,1]", "8 axes at most"},
           {"%0 = input \"x\" : f32[4294967296,4294967296]", "has no size"},
           {"%0 = input \"x\" : f32[2,3]@order(0)", "names every axis once"},
           {"%0 = input \"x\" : f32[2,3]@order(0,0)", "has no size"},
           {"%0 = input \"x\" : f32[2,3]@order(0,2)", "expected a whole number from 0 to 1"},
           {"%0 = input \"x\" : f32[2]@plain+1x8", "expected a block"},
           {"%0 = input \"x\" : f32[2]@plain+0x0", "expected a whole number from 1"},
           {"%0 = input \"x\" : f32[9223372036854775807]@plain+0x8", "has no size"},
           {"%0 = input \"x\" : f32[2]@plain+0x2+0x2+0x2", "too many blocks"},
           {"output \"y\" %3", "%3 is not defined"},
           {"%1 = input \"x\" : f32[1]", "too high a number"},
           {"%0 = f \"n\" later () : f32[]", "expected forward, backward or update"},
           {"%0 = f \"n\" forward () {a=1, a=2} : f32[]", "attribute \"a\" occurs twice"},
           {"%0 = f \"n\" forward () {a=1e999} : f32[]", "expected a number"},
           {"%0 = f \"n\" forward () accumulate(1) : f32[]", "expected a whole number from 0 to 0"},
           {"%0 = constant \"c\" [1] : f32[2]", "1 elements for f32[2]"},
           {"%0, %0 = f \"n\" forward () : f32[], f32[]", "%0 is defined twice"},
           {"%0 = input \"x\" : f32[1] f", "expected the end of the line"},
           {"graph \"again\"", "expected '%'"},
       }) {
    const std::string fault = fault_of(std::string("graph \"g\"\n") + line + "\n");
    EXPECT_NE(fault.find("line 2"), std::string::npos) << line << ": " << fault;
    EXPECT_NE(fault.find(what), std::string::npos) << line << ": " << fault;
  }
  EXPECT_NE(fault_of("").find("line 1: expected 'graph'"), std::string::npos);
}

TEST(Text, RefusesDerivedNamesThatAreTaken) {
  const std::string leaf = "graph \"g\"\n%0 = input \"x:1\" : f32[1]\n";
  EXPECT_EQ(fault_of(leaf + "%1, %2 = f \"x\" forward () : f32[1], f32[1]\n"),
            "[graph] line 3: there is another value \"x:1\"");
  EXPECT_EQ(fault_of("graph \"g\"\n%0, %1 = f \"x\" forward () : f32[1], f32[1]\n%2 = g \"x:1\" forward () : f32[1]\n"),
            "[graph] line 3: there is another value \"x:1\"");
  EXPECT_EQ(fault_of("graph \"g\"\n = f \"x\" forward () : \n = f \"x\" forward () : \n"),
            "[graph] line 3: there is another node \"x\"");
}

/// Cuts a piece out, doubles one, moves one, or changes a byte.
std::string mutate(std::string text, const Philox& random, uint64_t at) {
  const auto draw = random(at, 0);
  const size_t from = draw[0] % text.size();
  const size_t size = 1 + draw[1] % 12;
  const std::string piece = text.substr(from, size);
  switch (draw[2] % 5) {
    case 0: return text.substr(0, from);
    case 1: return text.erase(from, size);
    case 2: return text.insert(draw[3] % text.size(), piece);
    case 3: return text.replace(draw[3] % text.size(), size, piece);
    default: text[from] = static_cast<char>(draw[3]); return text;
  }
}

TEST(Text, GivesAGraphOrAFaultForAnyText) {
  constexpr uint64_t kSeed = 7;
  const Philox random(kSeed);
  for (const std::string& whole : {std::string(kTiny), to_text(make_full_graph())}) {
    for (uint64_t i = 0; i < 4000; ++i) {
      std::string text = whole;
      for (uint64_t k = 0; k <= i % 3 && !text.empty(); ++k) text = mutate(text, random, 3 * i + k);
      const auto graph = try_parse_graph(text);
      if (!graph.ok()) {
        EXPECT_NE(graph.error().message, "");
        continue;
      }
      const std::string printed = to_text(*graph);
      const auto again = try_parse_graph(printed);
      ASSERT_TRUE(again.ok()) << "seed " << kSeed << ", text " << i << ": " << again.error().message << "\n" << printed;
      ASSERT_EQ(to_text(*again), printed) << "seed " << kSeed << ", text " << i;
    }
  }
}

}  // namespace
}  // namespace plimsoll::graph
