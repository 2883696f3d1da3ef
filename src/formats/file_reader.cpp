#include "formats/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/bytes.h"

namespace plimsoll::formats {
namespace {

// fadvise drops only what lies in the range as a whole, and the cache may hold up to 2 MiB as one piece: by single
// pages a third of a 7 MB file stayed.
constexpr int64_t kCachePieceBytes = 2 << 20;

Error failure(const std::string& path, const char* what) {
  return io_error("cannot " + std::string(what) + " " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<bool> try_exists(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return failure(path, "inspect");
}

Result<FileReader> FileReader::try_open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return failure(path, "open");
  struct stat facts {};
  FileReader reader(descriptor, path, 0);
  if (::fstat(descriptor, &facts) != 0) return failure(path, "inspect");
  if (!S_ISREG(facts.st_mode)) return io_error("cannot read " + path + ": it is no regular file");
  reader.size_bytes_ = facts.st_size;
  // Read-ahead would fill the page cache beyond what is dropped.
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM);
  return reader;
}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileReader::FileReader(FileReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_bytes_(other.size_bytes_) {}

FileReader& FileReader::operator=(FileReader&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

Status FileReader::try_read(int64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(path_, "read");
    if (got == 0) return io_error("cannot read " + path_ + ": it became shorter while it was read");
    done += static_cast<size_t>(got);
  }
  drop_behind(offset, static_cast<int64_t>(out.size()));
  return {};
}

void FileReader::drop_behind(int64_t offset, int64_t count) const {
  const int64_t first = offset / kCachePieceBytes * kCachePieceBytes;
  const int64_t last = align_up(offset + count, kCachePieceBytes);
  ::posix_fadvise(descriptor_, first, last - first, POSIX_FADV_DONTNEED);
}

}  // namespace plimsoll::formats
