#include "engine/training/run_folder.h"

#include <filesystem>

namespace plimsoll::engine {

namespace fs = std::filesystem;

Status check_run_folder(const std::string& path, bool goes_on) {
  std::error_code fault;
  const bool exists = fs::exists(path, fault);
  if (goes_on) return exists ? Status() : Status(io_error("there is no run folder '" + path + "' to resume"));
  if (!exists) return {};
  const bool is_empty = fs::is_empty(path, fault);
  if (fault) return io_error("cannot read the run folder '" + path + "': " + fault.message());
  if (is_empty) return {};
  return invalid_argument("the run folder '" + path +
                          "' exists; give --resume to continue it, or another folder with --set run.folder=…");
}

Result<RunFolder> RunFolder::try_begin(const std::string& path) {
  std::error_code fault;
  const bool exists = fs::exists(path, fault);
  fs::create_directories(path, fault);
  if (fault) return io_error("cannot make the run folder '" + path + "': " + fault.message());
  PLIMSOLL_ASSIGN(auto lock, formats::FolderLock::try_take(path));
  // Only now: another run may have begun and ended meanwhile.
  PLIMSOLL_RETURN_IF_ERROR(check_run_folder(path, false));
  return RunFolder(path, !exists, std::move(lock));
}

Result<RunFolder> RunFolder::try_continue(const std::string& path) {
  PLIMSOLL_RETURN_IF_ERROR(check_run_folder(path, true));
  PLIMSOLL_ASSIGN(auto lock, formats::FolderLock::try_take(path));
  return RunFolder(path, false, std::move(lock));
}

void RunFolder::discard() {
  std::error_code ignored;
  if (is_made_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (fs::directory_iterator at(path_, ignored), end; !ignored && at != end; at.increment(ignored))
    fs::remove_all(at->path(), ignored);
}

}  // namespace plimsoll::engine
