#include "hardware/probe.h"

#include "hardware/probe_cores.h"
#include "hardware/probe_memory.h"

namespace plimsoll::hardware {

Result<Machine> try_probe_machine(const std::string& disk_folder, const SystemRoot& root) {
  PLIMSOLL_ASSIGN(const RamReading ram, try_read_ram(root));
  PLIMSOLL_ASSIGN(const DiskReading disk, try_read_disk(disk_folder));
  Machine machine;
  machine.name = "this machine";
  machine.cores = probe_cores(root, probe_affinity());
  machine.spaces.push_back({.name = "host", .kind = Space::kHost, .capacity = ram.capacity});
  machine.spaces.push_back({.name = "disk", .kind = Space::kDisk, .capacity = disk.free, .is_addressable = false});
  machine.links.push_back({.name = "disk", .from = {0}, .to = {1}, .is_duplex = false});
  machine.devices.push_back(
      {.name = "cpu", .kind = DeviceKind::kCpu, .space = {0}, .instruction_sets = probe_instruction_sets()});
  PLIMSOLL_RETURN_IF_ERROR(check_machine(machine));
  return machine;
}

}  // namespace plimsoll::hardware
