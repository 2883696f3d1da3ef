#pragma once

#include <optional>

#include "core/bytes.h"
#include "core/result.h"
#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// What this process holds, as the kernel counts it.
struct ProcessMemory {
  Bytes resident;       ///< VmRSS
  Bytes peak_resident;  ///< VmHWM
  Bytes anonymous;      ///< RssAnon: heap, stacks, arenas
  Bytes file;           ///< RssFile: mapped files, the program itself included
  Bytes shared_memory;  ///< RssShmem
  /// What the process's own control group is charged: all its processes, their page cache and kernel memory included.
  /// Nothing where no memory controller is mounted, or (peak) before Linux 5.19 with v2.
  std::optional<Bytes> group_charge;
  std::optional<Bytes> group_peak;  ///< v1 memory.max_usage_in_bytes, v2 memory.peak
};

/// Reads the above. The kernel sums resident pages in batches per CPU, so readings may lag by some 100 KiB.
///
/// Errors: io where /proc/self/status cannot be read. Cost: a few file reads, about 0.1 ms.
Result<ProcessMemory> try_read_process_memory(const SystemRoot& root = {});

}  // namespace plimsoll::hardware
