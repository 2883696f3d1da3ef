#include "hardware/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace plimsoll::hardware {
namespace {

constexpr std::array<std::string_view, 3> kDeviceNames{"cpu", "emulated", "cuda"};

Status check_figure(const std::string& owner, const char* field, double value) {
  if (std::isfinite(value) && value >= 0) return {};
  return invalid_argument("[machine] " + owner + ": " + field + " is " + std::to_string(value) +
                          "; expected a finite number that is not negative");
}

Status check_id(const Machine& machine, const std::string& owner, const char* field, SpaceId id) {
  if (id.is_valid() && id.index() < machine.spaces.size()) return {};
  return invalid_argument("[machine] " + owner + ": " + field + " is space " + std::to_string(id.value) + " of " +
                          std::to_string(machine.spaces.size()));
}

template <class Entry>
Status check_names(const char* what, const std::vector<Entry>& entries) {
  std::set<std::string_view> seen;
  for (const Entry& entry : entries)
    if (entry.name.empty() || !seen.insert(entry.name).second)
      return invalid_argument(std::string("[machine] ") + what + " '" + entry.name +
                              "': names must be distinct and not empty");
  return {};
}

Status check_space(const MemorySpace& space) {
  const std::string owner = "space '" + space.name + "'";
  PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "capacity", static_cast<double>(space.capacity.value)));
  PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "read bandwidth", space.read_bandwidth.value));
  PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "write bandwidth", space.write_bandwidth.value));
  return check_figure(owner, "latency", space.latency_ns);
}

Status check_link(const Machine& machine, const Link& link) {
  const std::string owner = "link '" + link.name + "'";
  PLIMSOLL_RETURN_IF_ERROR(check_id(machine, owner, "from", link.from));
  PLIMSOLL_RETURN_IF_ERROR(check_id(machine, owner, "to", link.to));
  PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "forward bandwidth", link.forward_bandwidth.value));
  PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "backward bandwidth", link.backward_bandwidth.value));
  return check_figure(owner, "latency", link.latency_ns);
}

Status check_device(const Machine& machine, const Device& device) {
  const std::string owner = "device '" + device.name + "'";
  PLIMSOLL_RETURN_IF_ERROR(check_id(machine, owner, "space", device.space));
  for (const MatmulRate& rate : device.rates) {
    PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "peak rate", rate.peak.value));
    if (rate.measured) PLIMSOLL_RETURN_IF_ERROR(check_figure(owner, "measured rate", rate.measured->value));
  }
  return check_figure(owner, "memory bandwidth", device.memory_bandwidth.value);
}

}  // namespace

const MemorySpace& Machine::space(SpaceId id) const {
  PLIMSOLL_CHECK(id.is_valid() && id.index() < spaces.size(), "space ", id, " of ", spaces.size());
  return spaces[id.index()];
}

SpaceId Machine::find_space(Space kind) const {
  for (size_t i = 0; i < spaces.size(); ++i)
    if (spaces[i].kind == kind) return {static_cast<int32_t>(i)};
  return {};
}

std::string_view to_string(DeviceKind kind) { return kDeviceNames[static_cast<size_t>(kind)]; }

Status check_machine(const Machine& machine) {
  if (machine.nodes < 1)
    return invalid_argument("[machine] nodes is " + std::to_string(machine.nodes) + "; expected 1 or more");
  if (machine.cores.usable < 1)
    return invalid_argument("[machine] usable cores is " + std::to_string(machine.cores.usable) +
                            "; expected 1 or more");
  PLIMSOLL_RETURN_IF_ERROR(check_names("space", machine.spaces));
  PLIMSOLL_RETURN_IF_ERROR(check_names("link", machine.links));
  PLIMSOLL_RETURN_IF_ERROR(check_names("device", machine.devices));
  for (const MemorySpace& space : machine.spaces) PLIMSOLL_RETURN_IF_ERROR(check_space(space));
  for (const Link& link : machine.links) PLIMSOLL_RETURN_IF_ERROR(check_link(machine, link));
  for (const Device& device : machine.devices) PLIMSOLL_RETURN_IF_ERROR(check_device(machine, device));
  if (machine.network) {
    PLIMSOLL_RETURN_IF_ERROR(check_figure("network", "bandwidth", machine.network->bandwidth.value));
    PLIMSOLL_RETURN_IF_ERROR(check_figure("network", "latency", machine.network->latency_ns));
  }
  return {};
}

}  // namespace plimsoll::hardware
