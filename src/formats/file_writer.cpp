#include "formats/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/check.h"

namespace plimsoll::formats {
namespace {

Error failure(const std::string& path, const char* what) {
  return io_error("cannot " + std::string(what) + " " + path + ": " + std::strerror(errno));
}

// The rename is on disk only once its folder is.
Status try_sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failure(folder, "open");
  const int rc = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (rc != 0 && reason != EINVAL) return failure(folder, "flush");  // EINVAL: folders need no flush there
  return {};
}

}  // namespace

FileWriter::FileWriter(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {
  buffer_.reserve(kBufferBytes);
}

Result<FileWriter> FileWriter::try_create(const std::string& path) {
  const std::string part = path + ".part";
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failure(part, "create");
  return FileWriter(descriptor, path);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_path().c_str());
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      written_bytes_(other.written_bytes_),
      buffer_(std::move(other.buffer_)) {}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(written_bytes_, other.written_bytes_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

Status FileWriter::try_append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), static_cast<size_t>(kBufferBytes) - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (buffer_.size() == static_cast<size_t>(kBufferBytes)) PLIMSOLL_RETURN_IF_ERROR(try_flush());
  }
  return {};
}

Status FileWriter::try_overwrite(int64_t offset, std::span<const std::byte> bytes) {
  PLIMSOLL_RETURN_IF_ERROR(try_flush());
  PLIMSOLL_CHECK(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= written_bytes_, offset);
  return try_write_at(offset, bytes);
}

Status FileWriter::try_finish() {
  PLIMSOLL_RETURN_IF_ERROR(try_flush());
  if (::fsync(descriptor_) != 0) return failure(part_path(), "flush");
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  if (::close(std::exchange(descriptor_, -1)) != 0) return failure(part_path(), "close");
  if (std::rename(part_path().c_str(), path_.c_str()) != 0) return failure(path_, "put in place");
  return try_sync_folder_of(path_);
}

Status FileWriter::try_flush() {
  if (buffer_.empty()) return {};
  PLIMSOLL_RETURN_IF_ERROR(try_write_at(written_bytes_, buffer_));
  const auto count = static_cast<int64_t>(buffer_.size());
  // Dirty pages cannot be dropped, so they are written back first.
  ::sync_file_range(descriptor_, written_bytes_, count,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  ::posix_fadvise(descriptor_, written_bytes_, count, POSIX_FADV_DONTNEED);
  written_bytes_ += count;
  buffer_.clear();
  return {};
}

Status FileWriter::try_write_at(int64_t offset, std::span<const std::byte> bytes) const {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, offset + static_cast<int64_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failure(part_path(), "write");
    done += static_cast<size_t>(put);
  }
  return {};
}

}  // namespace plimsoll::formats
