#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "core/dtype.h"
#include "core/ids.h"
#include "core/result.h"
#include "core/tiers.h"
#include "hardware/instruction_sets.h"

namespace plimsoll::hardware {

/// Arithmetic operations a second; a multiply-add counts as two.
struct FlopsPerSecond {
  double value = 0;
  friend constexpr auto operator<=>(FlopsPerSecond, FlopsPerSecond) = default;
};

/// What a device is: the CPU itself, an accelerator emulated on it, an NVIDIA GPU.
enum class DeviceKind : uint8_t { kCpu, kEmulated, kCuda };

struct SpaceTag;
using SpaceId = Id<SpaceTag>;  ///< index into Machine::spaces

/// One memory. A rate or latency of 0 is not known yet.
struct MemorySpace {
  std::string name;
  Space kind = Space::kHost;
  Bytes capacity;
  BytesPerSecond read_bandwidth;
  BytesPerSecond write_bandwidth;
  double latency_ns = 0;
  bool is_addressable = true;  ///< compute can read it in place, without a copy
  friend bool operator==(const MemorySpace&, const MemorySpace&) = default;
};

/// A way between two spaces.
struct Link {
  std::string name;
  SpaceId from;
  SpaceId to;
  BytesPerSecond forward_bandwidth;   ///< from `from` to `to`
  BytesPerSecond backward_bandwidth;  ///< from `to` to `from`
  bool is_duplex = true;              ///< false: both directions share the larger of the two
  double latency_ns = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

/// How fast a device multiplies matrices of one dtype.
struct MatmulRate {
  DType dtype = DType::kF32;
  FlopsPerSecond peak;                     ///< by the data sheet; 0 where not stated
  std::optional<FlopsPerSecond> measured;  ///< on this machine
  friend bool operator==(const MatmulRate&, const MatmulRate&) = default;
};

/// What computes, and the space it computes in.
struct Device {
  std::string name;
  DeviceKind kind = DeviceKind::kCpu;
  SpaceId space;
  std::vector<MatmulRate> rates;
  BytesPerSecond memory_bandwidth;
  InstructionSets instruction_sets;  ///< of the CPU that runs its kernels; empty for cuda
  friend bool operator==(const Device&, const Device&) = default;
};

/// What connects the nodes of a cluster.
struct Network {
  BytesPerSecond bandwidth;  ///< per node and direction
  double latency_ns = 0;
  friend bool operator==(const Network&, const Network&) = default;
};

/// One size of cache that a core sees.
struct Cache {
  int level = 0;
  Bytes size;
  int shared_by = 1;  ///< logical CPUs
  friend bool operator==(const Cache&, const Cache&) = default;
};

/// The processor cores that this process may use.
struct Cores {
  std::string model;
  int logical = 1;              ///< CPUs in the affinity mask
  int physical = 1;             ///< distinct cores among them
  std::optional<double> quota;  ///< CPU time per wall time that a control group allows
  int usable = 1;               ///< threads worth starting: min(logical, quota rounded up)
  std::vector<Cache> caches;    ///< data and unified caches, smallest level first
  friend bool operator==(const Cores&, const Cores&) = default;
};

/// A machine, at hand or hypothetical: all that the planner knows about hardware.
struct Machine {
  std::string name;
  int nodes = 1;
  std::optional<Network> network;  ///< set where nodes > 1
  Cores cores;                     ///< of one node, as are the lists below
  std::vector<MemorySpace> spaces;
  std::vector<Link> links;
  std::vector<Device> devices;

  /// Requires: the id is valid for this machine.
  const MemorySpace& space(SpaceId id) const;
  /// The first space of that kind, or an invalid id.
  SpaceId find_space(Space kind) const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// "cpu", "emulated", "cuda"
std::string_view to_string(DeviceKind kind);

/// Makes sure that a machine read from outside holds together: ids in range, names distinct, no negative figure.
///
/// Errors: invalid_argument that names the entry and the field.
Status check_machine(const Machine& machine);

}  // namespace plimsoll::hardware
