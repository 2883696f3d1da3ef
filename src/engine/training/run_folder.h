#pragma once

#include <string>

#include "core/result.h"
#include "formats/folder_lock.h"

namespace plimsoll::engine {

/// Whether a run may begin in the folder, or go on there, before anything is made. Errors: those of RunFolder.
Status check_run_folder(const std::string& path, bool goes_on);

/// The folder of a run, kept from other processes for as long as this lives.
class RunFolder {
 public:
  /// Makes a folder for a new run, or takes one that is empty. Errors: invalid_argument where it holds files; io.
  static Result<RunFolder> try_begin(const std::string& path);
  /// Takes the folder of a run that goes on. Errors: io where there is none, or another process has it.
  static Result<RunFolder> try_continue(const std::string& path);

  const std::string& path() const { return path_; }

  /// Removes what a run that could not begin left behind, and the folder too where try_begin made it.
  void discard();

 private:
  RunFolder(std::string path, bool is_made, formats::FolderLock lock)
      : path_(std::move(path)), is_made_(is_made), lock_(std::move(lock)) {}

  std::string path_;
  bool is_made_;
  formats::FolderLock lock_;
};

}  // namespace plimsoll::engine
