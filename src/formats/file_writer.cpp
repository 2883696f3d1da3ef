#include "formats/file_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
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

// A write beyond the limit on file sizes raises SIGXFSZ, which would end the process before the error can be told. The
// signal goes to the thread that writes, so it is held back there and thrown away.
class HeldSizeSignal {
 public:
  HeldSizeSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~HeldSizeSignal() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    const timespec at_once{};
    sigtimedwait(&signals_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSizeSignal(const HeldSizeSignal&) = delete;
  HeldSizeSignal& operator=(const HeldSizeSignal&) = delete;

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

// How much room there is for `path`, for a message.
std::string describe_room(const std::string& path, int reason) {
  if (rlimit limit{}; reason == EFBIG && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "the limit on file sizes (ulimit -f) is " + std::to_string(limit.rlim_cur) + " bytes";
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) return "free space is unknown";
  return std::to_string(facts.f_bavail * facts.f_frsize) + " bytes are free";
}

}  // namespace

Status try_sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failure(folder, "open");
  const int rc = ::fsync(descriptor);
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (rc != 0 && reason != EINVAL) return failure(folder, "flush");  // EINVAL: folders need no flush there
  return {};
}

FileWriter::FileWriter(int descriptor, std::string path, Options options)
    : descriptor_(descriptor), path_(std::move(path)), options_(std::move(options)) {
  buffer_.reserve(kBufferBytes);
}

Result<FileWriter> FileWriter::try_create(const std::string& path, Options options) {
  const std::string part = path + ".part";
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failure(part, "create");
  return FileWriter(descriptor, path, std::move(options));
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_path().c_str());
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      options_(std::move(other.options_)),
      written_bytes_(other.written_bytes_),
      buffer_(std::move(other.buffer_)) {}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(options_, other.options_);
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
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  return try_sync_folder(folder.empty() ? "." : folder);  // the rename is on disk only once its folder is
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
  const HeldSizeSignal held;
  size_t done = 0;
  while (done < bytes.size()) {
    const int64_t at = offset + static_cast<int64_t>(done);
    const std::byte* from = bytes.data() + done;
    const size_t count = bytes.size() - done;
    const ssize_t put =
        options_.write ? options_.write(descriptor_, from, count, at) : ::pwrite(descriptor_, from, count, at);
    if (put < 0 && errno == EINTR) continue;
    // A write of nothing would be tried for ever.
    if (put <= 0) return write_failure(put < 0 ? errno : ENOSPC, at, offset + static_cast<int64_t>(bytes.size()));
    done += static_cast<size_t>(put);
  }
  return {};
}

Error FileWriter::write_failure(int reason, int64_t at, int64_t end) const {
  const std::string what = "cannot write " + part_path() + ": " + std::strerror(reason);
  if (reason != ENOSPC && reason != EFBIG && reason != EDQUOT) return io_error(what);
  return io_error(what + "; the file needs " + std::to_string(std::max(options_.expected_bytes, end)) + " bytes, " +
                  std::to_string(at) + " are written, " + describe_room(part_path(), reason));
}

Status try_write_file(const std::string& path, std::string_view bytes, WriteCall write) {
  PLIMSOLL_ASSIGN(FileWriter writer, FileWriter::try_create(path, {.expected_bytes = static_cast<int64_t>(bytes.size()),
                                                                   .write = std::move(write)}));
  PLIMSOLL_RETURN_IF_ERROR(writer.try_append(bytes));
  return writer.try_finish();
}

}  // namespace plimsoll::formats
