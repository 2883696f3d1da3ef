#pragma once

#include <filesystem>
#include <string_view>

#include "core/result.h"
#include "graph/graph.h"

namespace plimsoll::transform {

/// A folder for the text of a graph in all its stages: `00-NAME.txt`, `01-NAME.txt`, … in the order of the writes.
class GraphDump {
 public:
  /// Makes the folder where there is none. Errors: invalid_argument where it holds files or is no folder; io.
  static Result<GraphDump> try_make(const std::filesystem::path& folder);

  /// Writes the next file. Errors: io, naming it.
  Status try_write(std::string_view name, const graph::Graph& graph);

 private:
  explicit GraphDump(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  int written_ = 0;
};

}  // namespace plimsoll::transform
