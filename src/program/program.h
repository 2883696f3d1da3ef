#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/attributes.h"
#include "core/tensor_desc.h"
#include "core/tiers.h"

namespace plimsoll::program {

using plimsoll::Category;
using plimsoll::Space;

/// A queue that executes its instructions in order; different lanes overlap.
enum class Lane : uint8_t { kCompute, kHostCompute, kHostToDevice, kDeviceToHost, kDiskRead, kDiskWrite };
constexpr int kLaneCount = 6;

/// One way of computing an op, prepared by a backend before the run.
struct Kernel {
  std::string op;
  Attributes attributes;
  std::vector<TensorDesc> srcs;
  std::vector<TensorDesc> dsts;
  std::vector<int> accumulated_dsts;  ///< these add into what the destination holds
  int64_t workspace_bytes = 0;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Planned storage.
struct Buffer {
  std::string name;
  int64_t size_bytes = 0;
  Category category = Category::kActivations;
  std::string origin;  ///< path of the node or value that it holds
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// A point between instructions: before instruction `index` of segment `segment`.
struct Point {
  int segment = 0;
  int index = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// A byte range of a buffer in one space at one offset for one half-open lifetime [first, last).
struct Residence {
  int buffer = 0;
  int64_t begin_bytes = 0;  ///< the range of the buffer that is here
  int64_t end_bytes = 0;
  Space space = Space::kHost;
  int64_t offset_bytes = 0;
  int slots = 1;             ///< iteration i uses slot i mod slots …
  int64_t stride_bytes = 0;  ///< … at offset_bytes + slot · stride_bytes
  Point first;
  Point last;
  friend bool operator==(const Residence&, const Residence&) = default;

  int64_t size_bytes() const { return end_bytes - begin_bytes; }
  /// One past the last byte of the last slot.
  int64_t extent_end() const { return offset_bytes + (slots - 1) * stride_bytes + size_bytes(); }
};

/// What an instruction does with an operand.
enum class Role : uint8_t {
  kRead,        ///< needs `version` complete
  kWrite,       ///< makes `version`, whatever was there
  kUpdate,      ///< needs `version` - 1 complete and makes `version` in place
  kAccumulate,  ///< makes `version`: adds into what the previous iteration left, or overwrites in the first
  kWorkspace    ///< scratch, undefined before and after
};

struct Operand {
  int residence = 0;
  int64_t begin_bytes = 0;  ///< range within the buffer
  int64_t end_bytes = 0;
  int version = 0;
  Role role = Role::kRead;
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class Kind : uint8_t {
  kCompute,  ///< runs `kernel` on its operands
  kFeed,     ///< copies what the host gave under `label` into operand 0
  kCopy,     ///< operand 0 to operand 1, within or between spaces
  kRead,     ///< operand 0 on disk to operand 1
  kWrite,    ///< operand 0 to operand 1 on disk
  kZero,     ///< fills operand 0 with zero bytes
  kCheck     ///< stops the step if the f32 scalar in operand 0 is not finite
};

/// In which iterations of its segment an instruction runs.
enum class When : uint8_t { kAlways, kFirst, kNotFirst, kLast };

/// Instruction `index` of `lane` in the same segment, counted per lane, must be done: of this iteration or the last.
struct Wait {
  Lane lane = Lane::kCompute;
  int index = 0;
  bool of_previous_iteration = false;
  friend bool operator==(const Wait&, const Wait&) = default;
};

struct Instruction {
  Lane lane = Lane::kCompute;
  Kind kind = Kind::kCompute;
  int kernel = -1;                ///< for kCompute
  std::vector<Operand> operands;  ///< kernels: sources, destinations, then workspace
  std::vector<Wait> waits;
  When when = When::kAlways;
  std::string label;   ///< the node's path, or the input's name
  std::string reason;  ///< why it is here, for people; empty where it is plain
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// A list of instructions that runs `trips` times.
struct Segment {
  std::string name;
  int64_t trips = 1;
  std::vector<Instruction> instructions;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// What is in memory between steps: version `version` of a buffer, complete in a residence.
struct StateEntry {
  int residence = 0;
  int version = 0;
  friend bool operator==(const StateEntry&, const StateEntry&) = default;
};

/// The executable artefact: everything that a step does, with every address decided.
struct Program {
  static constexpr int kFormatVersion = 1;

  int format_version = kFormatVersion;
  std::string name;
  std::string compile_hash;  ///< of all decisions that can change bits
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Residence> residences;
  std::vector<Segment> segments;
  std::vector<StateEntry> entry_state;
  std::vector<StateEntry> exit_state;
  std::array<int64_t, kSpaceCount> arena_bytes{};  ///< one arena a space, from offset 0
  friend bool operator==(const Program&, const Program&) = default;
};

std::string_view to_string(Lane lane);
std::string_view to_string(Role role);
std::string_view to_string(Kind kind);
std::string_view to_string(When when);

}  // namespace plimsoll::program
