#pragma once

#include <string>

#include "core/bytes.h"
#include "core/result.h"
#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// What RAM there is for this process, and what bounds it.
struct RamReading {
  Bytes installed;                ///< MemTotal
  Bytes capacity;                 ///< the least of MemTotal and every control group limit on the way up
  std::string capacity_bound_by;  ///< "/proc/meminfo" or the file of the limit
  Bytes free;                     ///< may still be taken now without swapping or being killed
  std::string free_bound_by;
};

/// Reads the above.
///
/// Errors: io where /proc/meminfo cannot be read.
Result<RamReading> try_read_ram(const SystemRoot& root = {});

/// The bytes that this process can hold in all, right now: what is free and the anonymous memory that it has already.
/// The default of --ram. No reserve for other programs is taken off.
///
/// Errors: as try_read_ram.
Result<Bytes> available_ram(const SystemRoot& root = {});

/// The budget of a process: `given`, or, where there is none, what is available. Errors: as try_read_ram.
Result<Bytes> try_find_budget(std::optional<Bytes> given);

/// Space of the file system that holds a folder.
struct DiskReading {
  Bytes capacity;
  Bytes free;  ///< for users without privileges
};

/// Errors: io, e.g. where the folder does not exist.
Result<DiskReading> try_read_disk(const std::string& folder);

}  // namespace plimsoll::hardware
