#include "transform/graph_dump.h"

#include "formats/file_writer.h"
#include "graph/text.h"

namespace plimsoll::transform {

namespace fs = std::filesystem;

Result<GraphDump> GraphDump::try_make(const fs::path& folder) {
  const std::string in = "[dump] '" + folder.string() + "' ";
  std::error_code fault, unknown;
  fs::create_directories(folder, fault);
  const fs::file_type type = fs::status(folder, unknown).type();
  if (!unknown && type != fs::file_type::not_found && type != fs::file_type::directory)
    return invalid_argument(in + "is no folder");
  if (fault) return io_error(in + "cannot be made: " + fault.message());
  const bool is_empty = fs::is_empty(folder, fault);
  if (fault) return io_error(in + "cannot be read: " + fault.message());
  if (!is_empty) return invalid_argument(in + "holds files; name an empty folder, or one that is still to be made");
  return GraphDump(folder);
}

Status GraphDump::try_write(std::string_view name, const graph::Graph& graph) {
  std::string number = std::to_string(written_++);
  if (number.size() < 2) number.insert(0, "0");
  const fs::path path = folder_ / (number + "-" + std::string(name) + ".txt");
  return formats::try_write_file(path.string(), graph::to_text(graph));
}

}  // namespace plimsoll::transform
