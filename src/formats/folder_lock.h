#pragma once

#include <string>

#include "core/result.h"

namespace plimsoll::formats {

/// Keeps other processes that ask out of a folder for as long as it lives; the system lifts it when the process ends.
class FolderLock {
 public:
  /// Errors: io, where another process holds it or the folder cannot be opened.
  static Result<FolderLock> try_take(const std::string& folder);
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace plimsoll::formats
