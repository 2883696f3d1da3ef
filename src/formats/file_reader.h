#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace plimsoll::formats {

/// Whether there is a file or folder of that name. Errors: io, where that cannot be told, such as behind a folder that
/// may not be searched.
Result<bool> try_exists(const std::string& path);

/// A file opened for reading at any offset, which leaves nothing of it in the page cache.
///
/// The page cache counts against a memory cgroup, so what was read is dropped again after each read.
/// Order: reads from several threads are safe.
class FileReader {
 public:
  /// Errors: io, when `path` is missing, unreadable or no regular file.
  static Result<FileReader> try_open(const std::string& path);
  ~FileReader();
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&& other) noexcept;

  const std::string& path() const { return path_; }
  /// The size when the file was opened.
  int64_t size_bytes() const { return size_bytes_; }

  /// Fills all of `out` from `offset` on.
  ///
  /// Errors: io, when a read fails or the file ends before `out` is full.
  Status try_read(int64_t offset, std::span<std::byte> out) const;

 private:
  FileReader(int descriptor, std::string path, int64_t size_bytes)
      : descriptor_(descriptor), path_(std::move(path)), size_bytes_(size_bytes) {}
  void drop_behind(int64_t offset, int64_t count) const;

  int descriptor_ = -1;
  std::string path_;
  int64_t size_bytes_ = 0;
};

}  // namespace plimsoll::formats
