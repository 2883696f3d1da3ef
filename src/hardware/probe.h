#pragma once

#include <string>

#include "core/result.h"
#include "hardware/machine.h"
#include "hardware/system_files.h"

namespace plimsoll::hardware {

/// The machine at hand: one `cpu` device in space `host`, and space `disk` for the file system of `disk_folder`.
///
/// Capacities are what this process may use. Rates and latencies stay 0 until measure.h's figures are put in.
/// Errors: io where /proc/meminfo or the folder cannot be read. Cost: about 1 ms.
Result<Machine> try_probe_machine(const std::string& disk_folder, const SystemRoot& root = {});

}  // namespace plimsoll::hardware
