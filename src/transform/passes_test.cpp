#include "transform/passes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/text.h"
#include "transform/common_subexpressions.h"
#include "transform/dead_code.h"
#include "transform/random_graph.h"
#include "transform/rebuild.h"
#include "transform/storage.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;

const ops::OpTable& table() {
  static const ops::OpTable kTable = ops::make_op_table();
  return kTable;
}

Graph parse(const std::string& lines) { return graph::try_parse_graph("graph \"g\"\n" + lines).value(); }

/// The graph's text without its first line.
std::string lines_of(const Graph& graph) {
  const std::string text = graph::to_text(graph);
  return text.substr(text.find('\n') + 1);
}

constexpr const char* kAccumulating = R"(%0 = input "x" : f32[1,1]
%1 = parameter trainable "w" : f32[1]
%2 = constant "one" [1.0] : f32[]
%3 = neg "a" forward (%1) : f32[1]
%4 = reduce_sum "s" backward (%0, %3) {axes=[0], keep_dims=false} accumulate(0) : f32[1]
%5 = sgd "next" update (%1, %4, %2, %2) {dampening=0.0, momentum=0.0, nesterov=false, weight_decay=0.0} : f32[1]
output "s" %4
update %1 <- %5
check %4 "sum"
)";

TEST(Rebuild, CopiesAGraphUnchanged) {
  const Graph graph = parse(kAccumulating);
  EXPECT_EQ(lines_of(rebuild(graph, Changes(graph))), lines_of(graph));
}

TEST(DeadCode, DropsWhatReachesNoEnd) {
  const Graph graph = parse(R"(%0 = input "x" : f32[4]
%1 = input "unread" : f32[4]
%2 = parameter "unread_w" : f32[4]
%3 = constant "c" [1.0] : f32[]
%4 = scalar "lr" : f32[]
%5 = neg "kept" forward (%0) : f32[4]
%6 = multiply "dead" forward (%0, %3) : f32[4]
%7 = neg "dead.too" backward (%6) : f32[4]
output "y" %5
)");
  EXPECT_EQ(lines_of(eliminate_dead_code(graph)), R"(%0 = input "x" : f32[4]
%1 = input "unread" : f32[4]
%2 = parameter "unread_w" : f32[4]
%3 = neg "kept" forward (%0) : f32[4]
output "y" %3
)");
  EXPECT_EQ(lines_of(eliminate_dead_code(graph, /*keeps_interface=*/false)), R"(%0 = input "x" : f32[4]
%1 = neg "kept" forward (%0) : f32[4]
output "y" %1
)");
}

TEST(DeadCode, KeepsAccumulatorsUpdatesAndChecks) {
  const Graph graph = parse(kAccumulating);
  EXPECT_EQ(lines_of(eliminate_dead_code(graph)), lines_of(graph));
}

TEST(DeadCode, KeepsUnreadOutputsOfALiveNode) {
  const Graph graph = parse(R"(%0 = input "x" : f32[4]
%1, %2 = split "s" forward (%0) {axis=0, sizes=[2,2]} : f32[2], f32[2]
output "half" %2
)");
  EXPECT_EQ(lines_of(eliminate_dead_code(graph)), lines_of(graph));
}

TEST(CommonSubexpressions, MergesRepeatedNodesAndWhatFollowsFromThem) {
  const Graph graph = parse(R"(%0 = input "x" : f32[4]
%1 = constant "c" [2.0] : f32[]
%2 = constant "c.again" [2.0] : f32[]
%3 = multiply "a" forward (%0, %1) : f32[4]
%4 = multiply "b" forward (%0, %2) : f32[4]
%5 = neg "na" forward (%3) : f32[4]
%6 = neg "nb" forward (%4) : f32[4]
%7 = add "sum" forward (%5, %6) : f32[4]
output "y" %7
output "nb" %6
)");
  EXPECT_EQ(lines_of(eliminate_common_subexpressions(graph, table())), R"(%0 = input "x" : f32[4]
%1 = constant "c" [2.0] : f32[]
%2 = multiply "a" forward (%0, %1) : f32[4]
%3 = neg "na" forward (%2) : f32[4]
%4 = add "sum" forward (%3, %3) : f32[4]
output "y" %4
output "nb" %3
)");
}

/// Each text has two nodes that look the same and must both stay.
TEST(CommonSubexpressions, KeepsApart) {
  const std::pair<const char*, const char*> cases[] = {
      {"phases", R"(%0 = input "x" : f32[4]
%1 = neg "a" forward (%0) : f32[4]
%2 = neg "b" backward (%0) : f32[4]
%3 = neg "c" update (%0) : f32[4]
output "a" %1
output "b" %2
output "c" %3
)"},
      {"attributes", R"(%0 = input "x" : f32[4]
%1 = softmax "a" forward (%0) {axis=0} : f32[4]
%2 = softmax "b" forward (%0) {axis=-1} : f32[4]
output "a" %1
output "b" %2
)"},
      {"draws of different paths", R"(%0 = input "x" : f32[4]
%1 = scalar "seed" : i64[]
%2 = dropout "a" forward (%0, %1, %1, %1) {p=0.5, path="a"} : f32[4]
%3 = dropout "b" forward (%0, %1, %1, %1) {p=0.5, path="b"} : f32[4]
output "a" %2
output "b" %3
)"},
      {"an accumulator from a value that is read later", R"(%0 = input "x" : f32[1,4]
%1 = input "y" : f32[4]
%2 = neg "a" forward (%1) : f32[4]
%3 = neg "b" forward (%1) : f32[4]
%4 = reduce_sum "s" forward (%0, %3) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
output "a" %2
output "s" %4
)"},
      {"a value from one that is added into through a view", R"(%0 = input "x" : f32[1,4]
%1 = input "y" : f32[4]
%2 = neg "a" forward (%1) : f32[4]
%3 = neg "b" forward (%1) : f32[4]
%4 = reshape "view" forward (%2) {shape=[4]} : f32[4]
%5 = reduce_sum "s" forward (%0, %4) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
output "b" %3
output "s" %5
)"},
      {"sums into different buffers", R"(%0 = input "x" : f32[1,4]
%1 = input "y" : f32[4]
%2 = neg "a" forward (%1) : f32[4]
%3 = abs "b" forward (%1) : f32[4]
%4 = reduce_sum "s" forward (%0, %2) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
%5 = reduce_sum "t" forward (%0, %3) {axes=[0], keep_dims=false} accumulate(0) : f32[4]
output "s" %4
output "t" %5
)"},
      {"nodes without inputs", R"(%0 = fill "a" forward () {dtype="f32", shape=[4], value=1.0} : f32[4]
%1 = fill "b" forward () {dtype="f32", shape=[4], value=1.0} : f32[4]
output "a" %0
output "b" %1
)"},
      {"zero and minus zero", R"(%0 = input "x" : f32[4]
%1 = constant "c" [0.0] : f32[]
%2 = constant "d" [-0.0] : f32[]
%3 = add "a" forward (%0, %1) : f32[4]
%4 = add "b" forward (%0, %2) : f32[4]
output "a" %3
output "b" %4
)"}};
  for (const auto& [what, text] : cases) {
    const Graph graph = parse(text);
    EXPECT_EQ(lines_of(eliminate_common_subexpressions(graph, table())), lines_of(graph)) << what;
  }
}

TEST(ConstantFolding, EvaluatesWhatIsKnown) {
  const Graph graph = parse(R"(%0 = input "x" : f32[2]
%1 = constant "c" [1.0, 2.0] : f32[2]
%2 = fill "f" forward () {dtype="f32", shape=[2], value=3.0} : f32[2]
%3 = add "d" forward (%1, %2) : f32[2]
%4 = neg "e" forward (%3) : f32[2]
%5 = add "y" forward (%0, %4) : f32[2]
output "y" %5
)");
  PassOptions options{.passes = {"constant_folding", "dead_code"}};
  EXPECT_EQ(lines_of(run_passes(graph, table(), options).value()), R"(%0 = input "x" : f32[2]
%1 = constant "e" [-4.0, -5.0] : f32[2]
%2 = add "y" forward (%0, %1) : f32[2]
output "y" %2
)");
}

TEST(ConstantFolding, LeavesLargeOverwrittenAndNamedValues) {
  const Graph graph = parse(R"(%0 = input "x" : f32[1,2]
%1 = constant "c" [1.0] : f32[]
%2 = expand "large" forward (%1) {shape=[3]} : f32[3]
%3 = expand "accumulator" forward (%1) {shape=[2]} : f32[2]
%4 = neg "named" forward (%1) : f32[]
%5 = reduce_sum "s" forward (%0, %3) {axes=[0], keep_dims=false} accumulate(0) : f32[2]
output "large" %2
output "named" %4
output "s" %5
)");
  EXPECT_EQ(lines_of(fold_constants(graph, table(), /*max_elements=*/2)), lines_of(graph));
}

TEST(ConstantFolding, LeavesWholeNumbersThatLiteralsMayNotHold) {
  const Graph graph = parse(R"(%0 = constant "c" [100000000000000000.0] : f32[]
%1 = cast "huge" forward (%0) {dtype="i64"} : i64[]
%2 = cast "y" forward (%1) {dtype="f32"} : f32[]
output "y" %2
)");
  EXPECT_EQ(lines_of(fold_constants(graph, table(), /*max_elements=*/2)), lines_of(graph));
}

/// The passes that are no fusions.
std::vector<std::string> plain_names() { return passes_with_fusions({}); }

/// Every order of every choice of plain passes; and all of them with every choice of fusions, before or after.
std::vector<std::vector<std::string>> all_sequences() {
  std::vector<std::vector<std::string>> out{{}};
  const std::vector<std::string> plain = plain_names();
  for (size_t begin = 0, length = 0; length < plain.size(); ++length) {
    const size_t end = out.size();
    for (; begin < end; ++begin)
      for (const std::string& name : plain)
        if (std::count(out[begin].begin(), out[begin].end(), name) == 0) {
          out.push_back(out[begin]);
          out.back().push_back(name);
        }
  }
  EXPECT_EQ(out.size(), 16u);
  for (size_t choice = 1; choice < size_t{1} << fusion_names().size(); ++choice) {
    std::vector<std::string> fusions;
    for (size_t i = 0; i < fusion_names().size(); ++i)
      if ((choice >> i & 1) != 0) fusions.push_back(fusion_names()[i]);
    out.push_back(passes_with_fusions(fusions));
    out.push_back(fusions);
    out.back().insert(out.back().end(), plain.begin(), plain.end());
  }
  return out;
}

/// The numbers of outputs, next states and checks, in order.
std::vector<std::vector<double>> results_of(const Graph& graph) {
  const std::vector<ops::Array> arrays = ops::evaluate_graph(table(), graph, make_leaves(graph));
  std::vector<std::vector<double>> out;
  for (const auto& output : graph.outputs()) out.push_back(arrays[output.value.index()].data);
  for (const auto& update : graph.updates()) out.push_back(arrays[update.next.index()].data);
  for (const auto& check : graph.checks()) out.push_back(arrays[check.value.index()].data);
  return out;
}

TEST(Passes, NoSequenceChangesAResultOfRandomGraphs) {
  const std::vector<std::vector<std::string>> sequences = all_sequences();
  size_t dropped = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = RandomGraph(table(), seed).run();
    const auto expected = results_of(graph);
    for (const auto& sequence : sequences) {
      const Graph after = run_passes(graph, table(), {.passes = sequence}).value();
      ASSERT_EQ(results_of(after), expected)
          << "seed " << seed << ", passes " << testing::PrintToString(sequence) << "\n"
          << graph::to_text(graph);
      ASSERT_TRUE(assign_storage(after, table()).ok()) << "seed " << seed;
      dropped += graph.nodes().size() - after.nodes().size();
    }
  }
  EXPECT_GT(dropped, 0u);
}

TEST(Passes, ReportsAndDumpsEachPass) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "plimsoll_passes_dump";
  std::filesystem::remove_all(folder);
  const Graph graph = RandomGraph(table(), 3).run();
  std::vector<PassReport> reports;
  GraphDump dump = GraphDump::try_make(folder).value();
  const Graph after = run_passes(graph, table(), {.dump = &dump}, &reports).value();
  ASSERT_EQ(reports.size(), pass_names().size());
  EXPECT_EQ(reports.front().nodes_before, static_cast<int64_t>(graph.nodes().size()));
  EXPECT_EQ(reports.back().nodes_after, static_cast<int64_t>(after.nodes().size()));
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].name, pass_names()[i]);
    EXPECT_LE(reports[i].nodes_after, reports[i].nodes_before);
  }
  std::stringstream dumped;
  dumped << std::ifstream(folder / "02-dead_code.txt").rdbuf();
  EXPECT_EQ(dumped.str(), graph::to_text(after));
  EXPECT_TRUE(std::filesystem::exists(folder / "00-constant_folding.txt"));
  std::filesystem::remove_all(folder);
}

TEST(Passes, FusionsAreChosenByName) {
  EXPECT_EQ(try_parse_fusions("all").value(), fusion_names());
  EXPECT_TRUE(try_parse_fusions("none").value().empty());
  EXPECT_EQ(try_parse_fusions("fuse_elementwise, fuse_bias_gradient").value(),
            (std::vector<std::string>{"fuse_elementwise", "fuse_bias_gradient"}));
  for (const char* text : {"", "fuse_elementwise,", "fuse_elementwize", "all,none"})
    EXPECT_EQ(try_parse_fusions(text).error().code, ErrorCode::kInvalidArgument) << text;
  EXPECT_NE(try_parse_fusions("fuse_elementwize").error().message.find("did you mean 'fuse_elementwise'?"),
            std::string::npos);
}

TEST(Passes, NamesAnUnknownPass) {
  const auto unknown = run_passes(parse(kAccumulating), table(), {.passes = {"dead_kode"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "[passes] there is no pass 'dead_kode'; did you mean 'dead_code'?");
}

TEST(Passes, GraphsBeforeAndAfterAreReadBackFromTheirText) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Graph graph = RandomGraph(table(), seed).run();
    for (const std::string& text : {graph::to_text(graph), graph::to_text(run_passes(graph, table()).value())})
      EXPECT_EQ(graph::to_text(graph::try_parse_graph(text).value()), text) << "seed " << seed;
  }
}

TEST(GraphDump, TakesOnlyAFolderWithoutFiles) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "plimsoll_graph_dump";
  std::filesystem::remove_all(folder);
  const Graph graph = parse(kAccumulating);
  GraphDump dump = GraphDump::try_make(folder / "a" / "b").value();
  ASSERT_TRUE(dump.try_write("only", graph).ok());
  const auto again = GraphDump::try_make(folder / "a" / "b");
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("holds files"), std::string::npos);
  EXPECT_EQ(GraphDump::try_make(folder / "a" / "b" / "00-only.txt").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(GraphDump::try_make("/dev/null/dump").error().code, ErrorCode::kIo);
  EXPECT_EQ(GraphDump::try_make(std::string(300, 'x')).error().code, ErrorCode::kIo);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(dump.try_write("more", graph).error().code, ErrorCode::kIo);
}

TEST(GraphDump, IsDiscardedWithTheFoldersThatItMade) {
  const std::filesystem::path there = std::filesystem::path(testing::TempDir()) / "plimsoll_discarded_dump";
  std::filesystem::remove_all(there);
  std::filesystem::create_directory(there);
  const Graph graph = parse(kAccumulating);
  for (const char* name : {"", "a", "a/b/c", "a/b/"}) {
    GraphDump dump = GraphDump::try_make(there / name).value();
    ASSERT_TRUE(dump.try_write("only", graph).ok());
    dump.discard();
    EXPECT_TRUE(std::filesystem::is_empty(there)) << name;
  }
  EXPECT_EQ(GraphDump::try_make(there / "a" / std::string(300, 'x')).error().code, ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::is_empty(there)) << "what was made before it failed";
  GraphDump dump = GraphDump::try_make(there / "a" / "b").value();
  ASSERT_TRUE(dump.try_write("only", graph).ok());
  std::ofstream(there / "a" / "mine.txt") << "another's";
  dump.discard();
  EXPECT_TRUE(std::filesystem::exists(there / "a" / "mine.txt"));
  EXPECT_FALSE(std::filesystem::exists(there / "a" / "b"));
  std::filesystem::remove_all(there);
}

}  // namespace
}  // namespace plimsoll::transform
