#include "transform/storage.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "transform/random_graph.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;
using graph::ValueId;

const ops::OpTable& table() {
  static const ops::OpTable kTable = ops::make_op_table();
  return kTable;
}

/// A graph and where its values are, asked by name.
struct Placed {
  Graph graph;
  Storage storage;

  explicit Placed(const std::string& lines, const StorageOptions& options = {})
      : graph(graph::try_parse_graph("graph \"g\"\n" + lines).value()),
        storage(assign_storage(graph, table(), options).value()) {}

  size_t index(const std::string& name) const { return graph.find_value(name).index(); }
  Storage::Slot slot(const std::string& name) const { return storage.slots[index(name)]; }
  int buffer(const std::string& name) const { return slot(name).buffer; }
  int version(const std::string& name) const { return storage.versions[index(name)]; }
};

constexpr const char* kChain = R"(
%0 = input "x" : f32[1]
%1 = neg "a" forward (%0) : f32[1]
%2 = neg "b" forward (%1) : f32[1]
%3 = neg "c" forward (%2) : f32[1]
output "c" %3
)";

TEST(Storage, OverwritesAnInputThatDies) {
  const Placed p(kChain);
  EXPECT_EQ(p.buffer("b"), p.buffer("a"));
  EXPECT_EQ(p.buffer("c"), p.buffer("a"));
  EXPECT_EQ(p.version("a"), 1);
  EXPECT_EQ(p.version("c"), 3);
}

TEST(Storage, NeverOverwritesALeaf) {
  const Placed p(kChain);
  EXPECT_NE(p.buffer("a"), p.buffer("x"));
}

TEST(Storage, GivesEveryOutputItsOwnBufferWhereInPlaceIsOff) {
  const Placed p(kChain, {.in_place = false});
  EXPECT_EQ(p.storage.owners.size(), 4u);
  EXPECT_NE(p.buffer("b"), p.buffer("a"));
}

TEST(Storage, LeavesAnInputThatIsReadLater) {
  const Placed p(R"(
%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = neg "b" forward (%1) : f32[4]
%3 = add "c" forward (%1, %2) : f32[4]
output "c" %3
)");
  EXPECT_NE(p.buffer("b"), p.buffer("a"));
}

TEST(Storage, LeavesAnInputThatIsAnOutputOrChecked) {
  for (const char* end : {"output \"a\" %1\n", "check %1 \"a\"\n"}) {
    const Placed p(std::string(kChain) + end);
    EXPECT_NE(p.buffer("b"), p.buffer("a")) << end;
  }
}

TEST(Storage, FollowsChainsOfViewsWithTheirOffsets) {
  const Placed p(R"(
%0 = input "x" : f32[6]
%1 = neg "a" forward (%0) : f32[6]
%2 = reshape "b" forward (%1) {shape=[3,2]} : f32[3,2]
%3 = slice "c" forward (%2) {ends=[3,2], starts=[1,0], steps=[]} : f32[2,2]
%4 = slice "d" forward (%3) {ends=[2,2], starts=[1,0], steps=[]} : f32[1,2]
output "d" %4
)");
  EXPECT_EQ(p.slot("c"), (Storage::Slot{p.buffer("a"), 8}));
  EXPECT_EQ(p.slot("d"), (Storage::Slot{p.buffer("a"), 16}));
  EXPECT_EQ(p.version("d"), p.version("a"));
  EXPECT_EQ(p.storage.is_view, (std::vector<bool>{false, true, true, true}));
}

TEST(Storage, LeavesAnInputOfWhichAViewIsReadLater) {
  const Placed p(R"(
%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = reshape "view" forward (%1) {shape=[2,2]} : f32[2,2]
%3 = neg "b" forward (%1) : f32[4]
%4 = neg "c" forward (%2) : f32[2,2]
output "b" %3
output "c" %4
)");
  EXPECT_NE(p.buffer("b"), p.buffer("a"));
  EXPECT_EQ(p.buffer("c"), p.buffer("a")) << "the last reader may overwrite through the view";
}

TEST(Storage, AddsInTheAccumulatorsBuffer) {
  const Placed p(R"(
%0 = input "x" : f32[1,4]
%1 = input "y" : f32[4]
%2 = neg "a" forward (%1) : f32[4]
%3 = reduce_sum "s" forward (%0, %2) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
output "s" %3
)",
                 {.in_place = false});
  EXPECT_EQ(p.buffer("s"), p.buffer("a"));
  EXPECT_EQ(p.version("s"), 2);
}

constexpr const char* kUpdate = R"(
%0 = parameter trainable "w" : f32[4]
%1 = input "d" : f32[4]
%2 = scalar "lr" : f32[]
)";
constexpr const char* kSgd =
    " update (%0, %1, %2, %2) {dampening=0.0, momentum=0.0, nesterov=false, weight_decay=0.0} : f32[4]\n";

TEST(Storage, UpdatesInTheStatesBuffer) {
  const Placed p(std::string(kUpdate) + "%3 = sgd \"next\"" + kSgd + "update %0 <- %3\n", {.in_place = false});
  EXPECT_EQ(p.buffer("next"), p.buffer("w"));
  EXPECT_EQ(p.version("w"), 0);
  EXPECT_EQ(p.version("next"), 1);
}

TEST(Storage, RefusesToReadAStateAfterItsUpdate) {
  for (const char* source : {"%0", "%3"}) {
    const std::string text = std::string("graph \"g\"\n") + kUpdate +
                             "%3 = reshape \"view\" update (%0) {shape=[4]} : f32[4]\n%4 = sgd \"next\"" + kSgd +
                             "%5 = neg \"late\" update (" + source +
                             ") : f32[4]\nupdate %0 <- %4\noutput \"late\" %5\n";
    const auto storage = assign_storage(graph::try_parse_graph(text).value(), table());
    ASSERT_FALSE(storage.ok()) << source;
    EXPECT_NE(storage.error().message.find("'w' is read after 'next' has updated it"), std::string::npos);
  }
}

TEST(Storage, RefusesAnUpdateThatNoOpWritesInPlace) {
  const auto graph = graph::try_parse_graph(R"(graph "g"
%0 = state "mean" : f32[4]
%1 = input "x" : f32[4]
%2 = add "moved" update (%0, %1) : f32[4]
update %0 <- %2
)");
  const auto storage = assign_storage(graph.value(), table());
  ASSERT_FALSE(storage.ok());
  EXPECT_EQ(storage.error().message, "[storage] 'mean' is to take 'moved', which no op writes in its place");
}

TEST(Storage, KeepsCarriedValuesApart) {
  StorageOptions options;
  const Graph graph = graph::try_parse_graph(std::string("graph \"g\"") + kChain).value();
  options.is_carried = [&](ValueId id) { return id == graph.find_value("b"); };
  const Placed p(kChain, options);
  EXPECT_NE(p.buffer("b"), p.buffer("a"));
  EXPECT_NE(p.buffer("c"), p.buffer("b"));
}

// Case G4: an output that nobody reads is still written, so it may not share what others read.
TEST(Storage, GivesAnUnreadOutputItsOwnBuffer) {
  const Placed p(R"(
%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2, %3 = split "s" forward (%1) {axis=0, sizes=[2,2]} : f32[2], f32[2]
%4 = neg "unread" forward (%1) : f32[4]
%5 = neg "b" forward (%2) : f32[2]
output "a" %1
output "b" %5
)");
  for (const char* other : {"x", "a", "s", "b"}) {
    EXPECT_NE(p.buffer("s:1"), p.buffer(other)) << other;
    EXPECT_NE(p.buffer("unread"), p.buffer(other)) << other;
  }
}

/// Runs a graph on its buffers, in order, with nothing but the slots to tell where values are.
class BufferMachine {
 public:
  BufferMachine(const Graph& graph, const Storage& storage) : graph_(graph), storage_(storage) {
    for (int64_t bytes : storage.buffer_bytes) buffers_.emplace_back(static_cast<size_t>(bytes));
  }

  void run(std::span<const ops::Array> leaves) {
    for (size_t i = 0; i < leaves.size(); ++i) {
      const graph::Value& value = graph_.values()[i];
      const ValueId id{static_cast<int32_t>(i)};
      if (value.kind == graph::ValueKind::kConstant)
        write(id, value.literal);
      else if (value.kind != graph::ValueKind::kComputed)
        write(id, leaves[i].data);
    }
    for (size_t n = 0; n < graph_.nodes().size(); ++n) {
      const graph::Node& node = graph_.nodes()[n];
      if (storage_.is_view[n]) continue;
      std::vector<ops::Array> srcs;
      for (ValueId input : node.inputs) srcs.push_back(read(input));
      const std::vector<ops::Array> dsts = ops::evaluate_node(table(), graph_, node, srcs);
      for (size_t i = 0; i < dsts.size(); ++i) write(node.outputs[i], dsts[i].data);
    }
  }

  ops::Array read(ValueId id) const {
    ops::Array out(graph_.value(id).desc);
    for (int64_t i = 0; i < out.numel(); ++i) out[i] = buffer(id)[byte(id, i)];
    return out;
  }

 private:
  /// A number stands at the place of its first byte.
  size_t byte(ValueId id, int64_t element) const {
    return static_cast<size_t>(storage_.slots[id.index()].offset_bytes +
                               element * size_bytes(graph_.value(id).desc.dtype));
  }
  const std::vector<double>& buffer(ValueId id) const {
    return buffers_[static_cast<size_t>(storage_.slots[id.index()].buffer)];
  }
  void write(ValueId id, std::span<const double> numbers) {
    std::vector<double>& bytes = buffers_[static_cast<size_t>(storage_.slots[id.index()].buffer)];
    for (size_t i = 0; i < numbers.size(); ++i) bytes[byte(id, static_cast<int64_t>(i))] = numbers[i];
  }

  const Graph& graph_;
  const Storage& storage_;
  std::vector<std::vector<double>> buffers_;
};

TEST(Storage, SharedBuffersChangeNoResultOfRandomGraphs) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = RandomGraph(table(), seed).run();
    const std::vector<ops::Array> leaves = make_leaves(graph);
    const std::vector<ops::Array> expected = ops::evaluate_graph(table(), graph, leaves);
    for (const bool in_place : {true, false}) {
      const Storage storage = assign_storage(graph, table(), {.in_place = in_place}).value();
      BufferMachine machine(graph, storage);
      machine.run(leaves);
      const std::string label = "seed " + std::to_string(seed) + "\n" + graph::to_text(graph);
      for (const auto& output : graph.outputs())
        ASSERT_EQ(machine.read(output.value).data, expected[output.value.index()].data) << label;
      for (const auto& update : graph.updates())
        ASSERT_EQ(machine.read(update.state).data, expected[update.next.index()].data) << label;
      for (const auto& check : graph.checks())
        ASSERT_EQ(machine.read(check.value).data, expected[check.value.index()].data) << label;
    }
  }
}

}  // namespace
}  // namespace plimsoll::transform
