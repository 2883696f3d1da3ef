#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"

namespace plimsoll::transform {

/// A folder for the text of a graph in all its stages: `00-NAME.txt`, `01-NAME.txt`, … in the order of the writes.
class GraphDump {
 public:
  /// Makes the folder, and those around it, where there are none; where that fails, none is left. Errors:
  /// invalid_argument where it holds files or is no folder; io.
  static Result<GraphDump> try_make(const std::filesystem::path& folder);

  /// Writes the next file. Errors: io, naming it.
  Status try_write(std::string_view name, const graph::Graph& graph);

  /// Removes the files that were written and the folders that were made, except where something else is in them.
  void discard();

 private:
  explicit GraphDump(std::filesystem::path folder);
  Status make_folder();

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> missing_;  ///< the folders that were not there, the innermost first
  std::vector<std::filesystem::path> written_;
};

}  // namespace plimsoll::transform
