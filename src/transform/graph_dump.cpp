#include "transform/graph_dump.h"

#include <fstream>

#include "graph/text.h"

namespace plimsoll::transform {

namespace fs = std::filesystem;

Result<GraphDump> GraphDump::try_make(const fs::path& folder) {
  const std::string in = "[dump] '" + folder.string() + "' ";
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fs::exists(folder) && !fs::is_directory(folder)) return invalid_argument(in + "is no folder");
  if (fault) return io_error(in + "cannot be made: " + fault.message());
  const bool is_empty = fs::is_empty(folder, fault);
  if (fault) return io_error(in + "cannot be read: " + fault.message());
  if (!is_empty) return invalid_argument(in + "holds files; name an empty folder, or one that is still to be made");
  return GraphDump(folder);
}

Status GraphDump::write(std::string_view name, const graph::Graph& graph) {
  std::string number = std::to_string(written_++);
  if (number.size() < 2) number.insert(0, "0");
  const fs::path path = folder_ / (number + "-" + std::string(name) + ".txt");
  std::ofstream file(path, std::ios::binary);
  file << graph::to_text(graph);
  file.close();
  return file ? Status() : Status(io_error("[dump] cannot write '" + path.string() + "'"));
}

}  // namespace plimsoll::transform
