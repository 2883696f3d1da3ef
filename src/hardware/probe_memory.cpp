#include "hardware/probe_memory.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "hardware/control_group.h"
#include "hardware/process_memory.h"

namespace plimsoll::hardware {
namespace {

void lower(Bytes value, const std::string& file, Bytes& least, std::string& bound_by) {
  if (value >= least) return;
  least = value;
  bound_by = file;
}

/// Kernels before 3.14 have no MemAvailable; free pages and half the page cache stand in.
Bytes read_available(std::string_view meminfo) {
  if (const auto available = try_find_number(meminfo, "MemAvailable")) return {*available};
  return {try_find_number(meminfo, "MemFree").value_or(0) + try_find_number(meminfo, "Cached").value_or(0) / 2};
}

/// Blocks times their size, held to the largest int64 (network file systems report absurd sizes).
Bytes to_bytes(unsigned long long blocks, unsigned long long block_size) {
  const auto most = static_cast<unsigned long long>(std::numeric_limits<int64_t>::max());
  if (block_size != 0 && blocks > most / block_size) return {std::numeric_limits<int64_t>::max()};
  return {static_cast<int64_t>(blocks * block_size)};
}

}  // namespace

Result<RamReading> try_read_ram(const SystemRoot& root) {
  const std::string file = root.path("/proc/meminfo");
  const auto meminfo = try_read_text(file);
  const auto total = meminfo ? try_find_number(*meminfo, "MemTotal") : std::nullopt;
  if (!total) return io_error("[machine] cannot read MemTotal from " + file);
  RamReading reading{{*total}, {*total}, file, read_available(*meminfo), file};
  for (const MemoryLimit& limit : read_memory_limits(root)) {
    lower(limit.limit, limit.file, reading.capacity, reading.capacity_bound_by);
    const Bytes left = limit.limit - limit.charged + limit.reclaimable;
    lower({std::clamp(left.value, int64_t{0}, limit.limit.value)}, limit.file, reading.free, reading.free_bound_by);
  }
  return reading;
}

Result<Bytes> available_ram(const SystemRoot& root) {
  PLIMSOLL_ASSIGN(const RamReading ram, try_read_ram(root));
  const auto own = try_read_process_memory(root);
  const Bytes held = own.ok() ? own->anonymous + own->shared_memory : Bytes{0};
  return std::min(ram.free + held, ram.capacity);
}

Result<Bytes> try_find_budget(std::optional<Bytes> given) {
  if (given) return *given;
  return available_ram();
}

Result<DiskReading> try_read_disk(const std::string& folder) {
  struct statvfs stat {};
  if (statvfs(folder.c_str(), &stat) != 0)
    return io_error("[machine] cannot read the free space of '" + folder + "': " + std::strerror(errno));
  return DiskReading{to_bytes(stat.f_blocks, stat.f_frsize), to_bytes(stat.f_bavail, stat.f_frsize)};
}

}  // namespace plimsoll::hardware
