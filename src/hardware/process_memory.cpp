#include "hardware/process_memory.h"

#include "hardware/control_group.h"

namespace plimsoll::hardware {
namespace {

std::optional<Bytes> read_bytes(const std::string& path) {
  const auto number = try_read_number(path);
  if (!number) return std::nullopt;
  return Bytes{*number};
}

void read_group(const SystemRoot& root, ProcessMemory& memory) {
  const auto group = try_find_control_group(root, "memory");
  if (!group) return;
  const std::string& own = group->folders.front();
  memory.group_charge = read_bytes(own + (group->is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  memory.group_peak = read_bytes(own + (group->is_v2 ? "/memory.peak" : "/memory.max_usage_in_bytes"));
}

}  // namespace

Result<ProcessMemory> try_read_process_memory(const SystemRoot& root) {
  const std::string file = root.path("/proc/self/status");
  const auto text = try_read_text(file);
  const auto resident = text ? try_find_number(*text, "VmRSS") : std::nullopt;
  if (!resident) return io_error("[machine] cannot read VmRSS from " + file);
  ProcessMemory memory;
  memory.resident = {*resident};
  memory.peak_resident = {try_find_number(*text, "VmHWM").value_or(*resident)};
  memory.anonymous = {try_find_number(*text, "RssAnon").value_or(0)};
  memory.file = {try_find_number(*text, "RssFile").value_or(0)};
  memory.shared_memory = {try_find_number(*text, "RssShmem").value_or(0)};
  read_group(root, memory);
  return memory;
}

}  // namespace plimsoll::hardware
