#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/environment/catalogue.h"
#include "graph/graph.h"
#include "plan/problem.h"
#include "plan/recompute.h"

namespace plimsoll::engine {

struct LowerOptions {
  int64_t microbatches = 1;  ///< above 1: forward and backward loop, gradients and outputs add up, then one update
  bool in_place = true;
  bool releases_early = true;  ///< plan/early_release.h: the optimizer follows each gradient at once
  /// When cheap activations are made again; nothing: never.
  std::optional<plan::RecomputeOptions> recomputes = plan::RecomputeOptions{};
  std::map<std::string, int64_t> state_offsets = {};  ///< bytes; where another program has put the state of that name
  int64_t step_base_bytes = 0;                        ///< where this program's own memory may begin
  std::function<Category(const graph::Value&)> state_category = [](const graph::Value&) {
    return Category::kOptimizerState;
  };
};

/// Where a state is.
struct Place {
  int buffer = -1;
  int64_t offset_bytes = 0;
  TensorDesc desc;
};

struct Lowered {
  plan::Problem problem;
  std::vector<int> kernels;                                   ///< by problem kernel: index in the catalogue
  std::vector<std::shared_ptr<const Catalogue::Entry>> kept;  ///< the same, so that the catalogue keeps them
  std::map<std::string, TensorDesc> outputs;                  ///< the program says where they are
  std::map<std::string, Place, std::less<>> state;            ///< parameters and state, by name
  std::vector<std::string> scalars;  ///< scalar i is at byte 8·i of what is fed as `kScalarFeed`
  /// What is fed beside the scalars, by label: the bytes of a constant, or nothing for an input.
  std::map<std::string, std::vector<std::byte>> feeds;
};

/// The label under which all step scalars are fed together.
inline constexpr const char* kScalarFeed = "step_scalars";

/// Turns a graph in execution order into the planner's problem: storage is shared, kernels are prepared, versions and
/// roles are written down.
///
/// Errors: unsupported for an output that is fed, where there are several microbatches; what the backends' preparation
/// or the storage rules say, with the node's name.
Result<Lowered> lower(const graph::Graph& graph, const ops::OpTable& ops, Catalogue& catalogue,
                      const LowerOptions& options);

}  // namespace plimsoll::engine
