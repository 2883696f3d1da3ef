#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "transform/constant_folding.h"
#include "transform/graph_dump.h"

namespace plimsoll::transform {

/// The names of all passes, in the order in which they are of most use.
const std::vector<std::string>& pass_names();
/// Those among them that join nodes to save traffic of memory: each can be left out alone.
const std::vector<std::string>& fusion_names();
/// Fusions as people choose them: "all", "none", or names with commas between. Errors: invalid_argument, with the
/// nearest name.
Result<std::vector<std::string>> try_parse_fusions(std::string_view text);
/// All passes without the fusions that `fusions` does not name, in their order.
std::vector<std::string> passes_with_fusions(std::span<const std::string> fusions);

struct PassOptions {
  std::vector<std::string> passes = pass_names();  ///< what runs, in this order; leave a name out to switch it off
  int64_t max_folded_elements = kMaxFoldedElements;
  bool keeps_interface = true;  ///< unread inputs, parameters and states stay
  GraphDump* dump = nullptr;    ///< takes the graph after each pass, under the pass's name; nullptr: nobody does
};

/// What one pass did.
struct PassReport {
  std::string name;
  int64_t nodes_before = 0;
  int64_t nodes_after = 0;
  double seconds = 0;  ///< the pass alone, without verification and dump
};

/// Runs the passes one after another and verifies the graph after each; a pass that breaks it is our bug. Outputs,
/// updates, checks and names of kept values stay; ids change.
///
/// Returns: the last graph; one report a pass is appended to `reports`, if there is one.
/// Errors: corrupt where `graph` does not verify; invalid_argument for an unknown pass, before any runs; io where a
/// dump cannot be written. Order: same input, same graph.
Result<graph::Graph> run_passes(graph::Graph graph, const ops::OpTable& ops, const PassOptions& options = {},
                                std::vector<PassReport>* reports = nullptr);

}  // namespace plimsoll::transform
