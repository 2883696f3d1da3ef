#include "transform/graph_dump.h"

#include "formats/file_writer.h"
#include "graph/text.h"

namespace plimsoll::transform {

namespace fs = std::filesystem;

GraphDump::GraphDump(fs::path folder) : folder_(std::move(folder)) {
  std::error_code unknown;  // a name that cannot be one of a folder is none
  for (fs::path at = folder_; !at.empty() && !fs::exists(at, unknown); at = at.parent_path()) missing_.push_back(at);
}

Result<GraphDump> GraphDump::try_make(const fs::path& folder) {
  GraphDump dump(folder);
  const Status made = dump.make_folder();
  if (made.ok()) return dump;
  dump.discard();
  return made.error();
}

Status GraphDump::make_folder() {
  const std::string in = "[dump] '" + folder_.string() + "' ";
  std::error_code fault, unknown;
  fs::create_directories(folder_, fault);
  const fs::file_type type = fs::status(folder_, unknown).type();
  if (!unknown && type != fs::file_type::not_found && type != fs::file_type::directory)
    return invalid_argument(in + "is no folder");
  if (fault) return io_error(in + "cannot be made: " + fault.message());
  const bool is_empty = fs::is_empty(folder_, fault);
  if (fault) return io_error(in + "cannot be read: " + fault.message());
  if (!is_empty) return invalid_argument(in + "holds files; name an empty folder, or one that is still to be made");
  return {};
}

Status GraphDump::try_write(std::string_view name, const graph::Graph& graph) {
  std::string number = std::to_string(written_.size());
  if (number.size() < 2) number.insert(0, "0");
  written_.push_back(folder_ / (number + "-" + std::string(name) + ".txt"));
  return formats::try_write_file(written_.back().string(), graph::to_text(graph));
}

void GraphDump::discard() {
  std::error_code ignored;
  for (const auto* paths : {&written_, &missing_})
    for (const fs::path& path : *paths) fs::remove(path, ignored);  // a folder only where it is empty
}

}  // namespace plimsoll::transform
