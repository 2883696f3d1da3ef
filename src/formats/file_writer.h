#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace plimsoll::formats {

/// Does what pwrite does and fails as it does, with errno set. Tests put in one that is slow, partial or out of space.
using WriteCall = std::function<ssize_t(int descriptor, const std::byte* bytes, size_t count, int64_t offset)>;

/// Makes the names in `folder` (files made, renamed, removed) last on disk. Errors: io.
Status try_sync_folder(const std::string& folder);

/// Writes a file aside and puts it in place when it is whole: written, flushed to disk, renamed.
///
/// A writer that is destroyed before try_finish removes what it wrote and leaves an older file of that name alone.
/// Memory: one buffer of kBufferBytes; what was written is dropped from the page cache.
class FileWriter {
 public:
  static constexpr int64_t kBufferBytes = 256 << 10;

  struct Options {
    int64_t expected_bytes = 0;  ///< the size it will have, if known: named when the disk is full
    WriteCall write{};           ///< empty: pwrite
  };

  /// Starts `path`, in `path`.part for now. Errors: io.
  static Result<FileWriter> try_create(const std::string& path) { return try_create(path, {}); }
  static Result<FileWriter> try_create(const std::string& path, Options options);
  ~FileWriter();
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) noexcept;

  /// Errors: io. A full disk, or a limit on file sizes, is named with the bytes needed, written and free.
  Status try_append(std::span<const std::byte> bytes);
  Status try_append(std::string_view text) { return try_append(std::as_bytes(std::span(text))); }

  /// Replaces bytes written before, e.g. a header whose counts are known at the end. Requires: they were appended.
  Status try_overwrite(int64_t offset, std::span<const std::byte> bytes);

  /// Flushes to disk and renames; nothing may be appended afterwards.
  Status try_finish();

  int64_t size_bytes() const { return written_bytes_ + static_cast<int64_t>(buffer_.size()); }

 private:
  FileWriter(int descriptor, std::string path, Options options);
  Status try_flush();
  Status try_write_at(int64_t offset, std::span<const std::byte> bytes) const;
  Error write_failure(int reason, int64_t at, int64_t end) const;
  std::string part_path() const { return path_ + ".part"; }

  int descriptor_ = -1;
  std::string path_;
  Options options_;
  int64_t written_bytes_ = 0;
  std::vector<std::byte> buffer_;
};

/// Puts a file of these bytes in place whole, as FileWriter does. Errors: io.
Status try_write_file(const std::string& path, std::string_view bytes, WriteCall write = {});

}  // namespace plimsoll::formats
