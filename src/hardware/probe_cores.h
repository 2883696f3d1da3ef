#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hardware/machine.h"
#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// The CPUs of this process's affinity mask, in order.
std::vector<int> probe_affinity();

/// Model, counts, quota and caches as seen from the CPUs of `affinity` (probe_affinity(), or a test's list).
Cores probe_cores(const SystemRoot& root, std::span<const int> affinity);

/// The CPUs of a list such as "0-3,8"; what cannot be read is left out.
std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace plimsoll::hardware
