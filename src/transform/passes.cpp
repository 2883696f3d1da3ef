#include "transform/passes.h"

#include <algorithm>

#include "core/stopwatch.h"
#include "core/suggest.h"
#include "graph/verify.h"
#include "transform/common_subexpressions.h"
#include "transform/dead_code.h"
#include "transform/fuse_attention_layout.h"
#include "transform/fuse_elementwise.h"
#include "transform/fuse_matmul.h"

namespace plimsoll::transform {
namespace {

using graph::Graph;

struct Pass {
  const char* name;
  Graph (*run)(const Graph& graph, const ops::OpTable& ops, const PassOptions& options);
  bool is_fusion = false;
};

/// Dead code comes after both passes that leave leaves and nodes behind which nobody reads, and before those that ask
/// who reads a value.
constexpr Pass kPasses[] = {
    {"constant_folding",
     [](const Graph& graph, const ops::OpTable& ops, const PassOptions& options) {
       return fold_constants(graph, ops, options.max_folded_elements);
     }},
    {"common_subexpressions", [](const Graph& graph, const ops::OpTable& ops,
                                 const PassOptions&) { return eliminate_common_subexpressions(graph, ops); }},
    {"dead_code", [](const Graph& graph, const ops::OpTable&,
                     const PassOptions& options) { return eliminate_dead_code(graph, options.keeps_interface); }},
    {"fuse_attention_layout",
     [](const Graph& graph, const ops::OpTable& ops, const PassOptions&) { return fuse_attention_layout(graph, ops); },
     /*is_fusion=*/true},
    {"fuse_bias_gradient",
     [](const Graph& graph, const ops::OpTable& ops, const PassOptions&) { return fuse_bias_gradient(graph, ops); },
     /*is_fusion=*/true},
    {"fuse_matmul_epilogue",
     [](const Graph& graph, const ops::OpTable& ops, const PassOptions&) { return fuse_matmul_epilogue(graph, ops); },
     /*is_fusion=*/true},
    {"fuse_elementwise",
     [](const Graph& graph, const ops::OpTable& ops, const PassOptions&) { return fuse_elementwise(graph, ops); },
     /*is_fusion=*/true},
};

Result<std::vector<const Pass*>> try_select(std::span<const std::string> names) {
  std::vector<const Pass*> out;
  for (const std::string& name : names) {
    const Pass* found = nullptr;
    for (const Pass& pass : kPasses)
      if (pass.name == name) found = &pass;
    if (found == nullptr)
      return invalid_argument("[passes] there is no pass '" + name + "'" + suggest(name, pass_names()));
    out.push_back(found);
  }
  return out;
}

Graph run_timed(const Pass& pass, const Graph& graph, const ops::OpTable& ops, const PassOptions& options,
                std::vector<PassReport>* reports) {
  const Stopwatch watch;
  Graph out = pass.run(graph, ops, options);
  const double seconds = watch.seconds();
  if (reports != nullptr)
    reports->push_back({.name = pass.name,
                        .nodes_before = static_cast<int64_t>(graph.nodes().size()),
                        .nodes_after = static_cast<int64_t>(out.nodes().size()),
                        .seconds = seconds});
  const Status status = graph::verify(out);
  PLIMSOLL_CHECK(status.ok(), "after ", pass.name, ": ", status.error().message);
  return out;
}

}  // namespace

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Pass& pass : kPasses) names.emplace_back(pass.name);
    return names;
  }();
  return kNames;
}

const std::vector<std::string>& fusion_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Pass& pass : kPasses)
      if (pass.is_fusion) names.emplace_back(pass.name);
    return names;
  }();
  return kNames;
}

Result<std::vector<std::string>> try_parse_fusions(std::string_view text) {
  if (text == "all") return fusion_names();
  std::vector<std::string> out;
  if (text == "none") return out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string name(text.substr(begin, end - begin));
    std::erase(name, ' ');
    if (std::ranges::count(fusion_names(), name) == 0) {
      std::vector<std::string> known = fusion_names();
      known.insert(known.begin(), {"all", "none"});
      std::string list;
      for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
      return invalid_argument("there is no fusion '" + name + "'; expected names with commas between, of " + list +
                              suggest(name, known));
    }
    out.push_back(std::move(name));
    begin = end + 1;
  }
  return out;
}

std::vector<std::string> passes_with_fusions(std::span<const std::string> fusions) {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses)
    if (!pass.is_fusion || std::ranges::count(fusions, pass.name) > 0) names.emplace_back(pass.name);
  return names;
}

Result<Graph> run_passes(Graph graph, const ops::OpTable& ops, const PassOptions& options,
                         std::vector<PassReport>* reports) {
  PLIMSOLL_RETURN_IF_ERROR(graph::verify(graph));
  PLIMSOLL_ASSIGN(const std::vector<const Pass*> passes, try_select(options.passes));
  for (const Pass* pass : passes) {
    graph = run_timed(*pass, graph, ops, options, reports);
    if (options.dump != nullptr) PLIMSOLL_RETURN_IF_ERROR(options.dump->try_write(pass->name, graph));
  }
  return graph;
}

}  // namespace plimsoll::transform
