#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/philox.h"
#include "core/stopwatch.h"
#include "hardware/anonymous_mapping.h"
#include "hardware/measure.h"
#include "hardware/probe_memory.h"

namespace plimsoll::hardware {
namespace {

constexpr int64_t kBlockBytes = int64_t{4} << 20;
constexpr int64_t kSmallReadBytes = 4096;

/// An open file without a name.
class ScratchFile {
 public:
  static Result<ScratchFile> try_open(const std::string& folder) {
    const std::string path = folder + "/plimsoll-measure-" + std::to_string(getpid());
    std::optional<std::string> refusal;
    int file = open(path.c_str(), kFlags | O_DIRECT, 0600);
    if (file < 0 && errno == EINVAL) {
      refusal = "the file system refuses O_DIRECT";
      unlink(path.c_str());  // some kernels have made the file by the time they refuse
      file = open(path.c_str(), kFlags, 0600);
    }
    if (file < 0) return io_error("[machine] cannot write in '" + folder + "': " + std::strerror(errno));
    unlink(path.c_str());
    return ScratchFile(file, std::move(refusal));
  }

  ScratchFile(ScratchFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), refusal_(std::move(other.refusal_)) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile() {
    if (file_ >= 0) close(file_);
  }

  int get() const { return file_; }
  const std::optional<std::string>& refusal() const { return refusal_; }

  /// Some file systems accept the flag and refuse the first write; then it goes through the page cache, and says so.
  bool try_fall_back() {
    if (refusal_ || errno != EINVAL || fcntl(file_, F_SETFL, 0) != 0) return false;
    refusal_ = "the file system refuses O_DIRECT writes";
    return true;
  }

 private:
  static constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC;
  ScratchFile(int file, std::optional<std::string> refusal) : file_(file), refusal_(std::move(refusal)) {}

  int file_;
  std::optional<std::string> refusal_;
};

struct Transfer {
  int64_t bytes = 0;
  BytesPerSecond rate;
};

/// Block after block until `size` or the time is reached.
template <class Move, class Finish>
Result<Transfer> time_transfer(const char* what, int64_t size, const MeasureOptions& options, Move move,
                               Finish finish) {
  const Stopwatch watch;
  int64_t done = 0;
  while (done < size && (done == 0 || watch.seconds() < options.seconds_per_figure)) {
    const ssize_t moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0)
      return io_error(std::string("[machine] disk ") + what +
                      " failed: " + (moved < 0 ? std::strerror(errno) : "short"));
    done += moved;
    if (moved != kBlockBytes) break;  // direct transfers must go on at whole blocks
    if (options.progress) options.progress(what, static_cast<double>(done) / static_cast<double>(size));
  }
  if (finish() != 0) return io_error(std::string("[machine] disk ") + what + " failed: " + std::strerror(errno));
  return Transfer{done, {static_cast<double>(done) / watch.seconds()}};
}

/// Median of reads at places that a counter draws, so that read-ahead is of no use.
double measure_latency_ns(int file, std::byte* buffer, int64_t file_bytes, double time_limit) {
  const int64_t places = file_bytes / kSmallReadBytes;
  std::vector<double> seconds;
  const Stopwatch watch;
  for (uint64_t i = 0; places > 0 && i < 200 && (i < 3 || watch.seconds() < time_limit); ++i) {
    const int64_t place = static_cast<int64_t>((uint64_t{Philox(7)(i, 0)[0]} * static_cast<uint64_t>(places)) >> 32);
    const Stopwatch read_watch;
    if (pread(file, buffer, kSmallReadBytes, place * kSmallReadBytes) != kSmallReadBytes) break;
    seconds.push_back(read_watch.seconds());
  }
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle * 1e9;
}

Status check_space_for(const std::string& folder, int64_t size) {
  PLIMSOLL_ASSIGN(const DiskReading disk, try_read_disk(folder));
  if (disk.free.value / 2 >= size) return {};
  return io_error("[machine] measuring '" + folder + "' needs " + to_string(Bytes{size}) + " and as much left over; " +
                  to_string(disk.free) + " are free");
}

}  // namespace

Result<DiskMeasurement> try_measure_disk(const std::string& folder, Bytes size, const MeasureOptions& options) {
  const int64_t file_bytes = align_up(std::max(size.value, kBlockBytes), kBlockBytes);
  PLIMSOLL_RETURN_IF_ERROR(check_space_for(folder, file_bytes));
  PLIMSOLL_ASSIGN(ScratchFile file, ScratchFile::try_open(folder));
  PLIMSOLL_ASSIGN(const auto buffer, AnonymousMapping::try_make({kBlockBytes}, PageKind::kSmall));
  std::memset(buffer.data(), 0x5a, kBlockBytes);  // zeros might be stored as a hole

  const auto write_block = [&](int64_t offset) {
    ssize_t written = pwrite(file.get(), buffer.data(), kBlockBytes, offset);
    if (written < 0 && file.try_fall_back()) written = pwrite(file.get(), buffer.data(), kBlockBytes, offset);
    return written;
  };
  PLIMSOLL_ASSIGN(const Transfer written,
                  time_transfer("write", file_bytes, options, write_block, [&] { return fdatasync(file.get()); }));
  if (file.refusal()) posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto read_block = [&](int64_t offset) { return pread(file.get(), buffer.data(), kBlockBytes, offset); };
  PLIMSOLL_ASSIGN(const Transfer read, time_transfer("read", written.bytes, options, read_block, [] { return 0; }));
  if (file.refusal()) posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const double latency_ns =
      measure_latency_ns(file.get(), buffer.data(), written.bytes, options.seconds_per_figure / 2);
  return DiskMeasurement{{written.bytes}, read.rate, written.rate, latency_ns, file.refusal()};
}

void set_measured(const DiskMeasurement& disk, Machine& machine) {
  const SpaceId id = machine.find_space(Space::kDisk);
  if (!id.is_valid()) return;
  MemorySpace& space = machine.spaces[id.index()];
  space.read_bandwidth = disk.read;
  space.write_bandwidth = disk.write;
  space.latency_ns = disk.latency_ns;
  for (Link& link : machine.links) {
    if (link.to != id) continue;
    link.forward_bandwidth = disk.write;
    link.backward_bandwidth = disk.read;
    link.latency_ns = disk.latency_ns;
  }
}

}  // namespace plimsoll::hardware
