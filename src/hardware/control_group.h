#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// Where this process stands in the hierarchy of one cgroup controller.
struct ControlGroup {
  bool is_v2 = false;
  std::vector<std::string> folders;  ///< its own group, then each parent up to the mount; readable as they stand
};

/// The group of a controller ("memory", "cpu"). In a hybrid system the v1 hierarchy that holds the controller wins over
/// the unified one. A group outside what is mounted here (a container's view) is taken as the mount itself.
///
/// Returns: nothing where no hierarchy for it is mounted.
std::optional<ControlGroup> try_find_control_group(const SystemRoot& root, std::string_view controller);

/// A limit on memory that some group on the way up sets, and how much of it is used.
struct MemoryLimit {
  std::string file;  ///< where it was read
  Bytes limit;
  Bytes charged;      ///< now, all processes of that group and below
  Bytes reclaimable;  ///< of that, file pages, which the kernel drops before it fails a charge
};

/// Every finite limit from the process's own group upwards (memory.limit_in_bytes; memory.max and memory.high).
std::vector<MemoryLimit> read_memory_limits(const SystemRoot& root);

/// CPU time per wall time that the tightest group allows, or nothing where none limits it.
std::optional<double> try_read_cpu_quota(const SystemRoot& root);

}  // namespace plimsoll::hardware
