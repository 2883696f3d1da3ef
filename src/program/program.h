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

/// A queue that executes its instructions in order, over all iterations of a segment; different lanes overlap.
enum class Lane : uint8_t { kCompute, kHostCompute, kHostToDevice, kDeviceToHost, kDiskRead, kDiskWrite };
constexpr int kLaneCount = 6;

/// Destination `dst` may have the very bytes of source `src`: the kernel reads each of them before it overwrites it.
struct InPlace {
  int dst = 0;
  int src = 0;
  friend bool operator==(const InPlace&, const InPlace&) = default;
};

/// One way of computing an op, prepared by a backend before the run: a pure function of its sources (and of what the
/// accumulated destinations hold).
struct Kernel {
  std::string op;
  Attributes attributes;
  std::vector<TensorDesc> srcs;
  std::vector<TensorDesc> dsts;
  std::vector<int> accumulated_dsts;  ///< these add into what the destination holds
  int64_t workspace_bytes = 0;
  std::vector<InPlace> in_place;  ///< the op's alias rule: no other destination may share bytes with a source
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

/// A point between instructions: before instruction `index` of segment `segment`. The end of a segment is the start of
/// the next; the end of the program is (last segment, its size) or (number of segments, 0).
struct Point {
  int segment = 0;
  int index = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// A byte range of a buffer in one space at one offset for one half-open lifetime [first, last).
///
/// What it holds is lost at `last` and starts empty at `first`, in every iteration: to carry content from one iteration
/// to the next, a residence must cover the whole segment. With several slots each keeps its own iteration's content, so
/// that a later segment reads in iteration i what slot i mod slots got in iteration i. With one slot, only sums over
/// the iterations and what is made in the last one (When::kLast) or the same in all can be read by a later loop.
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
  /// One past the last byte of the last slot. Requires: the program has passed check_structure, so it cannot overflow.
  int64_t extent_end() const { return offset_bytes + (slots - 1) * stride_bytes + size_bytes(); }
};

/// What an instruction does with an operand.
enum class Role : uint8_t {
  kRead,        ///< needs `version` complete
  kWrite,       ///< makes `version`, whatever was there
  kUpdate,      ///< needs `version` - 1 complete and makes `version` in place: by a kernel that adds into it, or that
                ///< has the same bytes as a source
  kAccumulate,  ///< makes `version`: adds into what the previous iteration left (its last version of these bytes), or
                ///< overwrites in the first, also where the kernel adds: the runtime then zeroes the destination before
  kWorkspace    ///< scratch, undefined before and after
};
constexpr int kRoleCount = 5;

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
constexpr int kKindCount = 7;

/// In which iterations of its segment an instruction runs. Where it does not, it still has its turn in its lane, so
/// that a wait for it means "the lane has come past it".
enum class When : uint8_t { kAlways, kFirst, kNotFirst, kLast };
constexpr int kWhenCount = 4;

/// Instruction `index` of `lane` in the same segment, counted per lane, must be done: of this iteration (then it stands
/// earlier in the list, so that waits form no cycle) or of the previous one (met at once in the first).
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

/// A list of instructions that runs `trips` times. The list is the order of meaning: lanes and waits must keep every
/// two instructions that touch the same bytes, one of them writing, in that order. All lanes end it before the next
/// begins.
struct Segment {
  std::string name;
  int64_t trips = 1;
  std::vector<Instruction> instructions;
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// What is in memory between steps: version `version` of a buffer, complete in a residence of one slot that lives from
/// the start to the end of the program.
struct StateEntry {
  int residence = 0;
  int version = 0;
  friend bool operator==(const StateEntry&, const StateEntry&) = default;
};

/// What the host may read when the program has ended: version `version` of these bytes, complete, of all iterations, in
/// a residence of one slot that lives to the end.
struct Output {
  std::string name;
  int residence = 0;
  int64_t begin_bytes = 0;  ///< range within the buffer
  int64_t end_bytes = 0;
  int version = 0;
  friend bool operator==(const Output&, const Output&) = default;
};

/// The executable artefact: everything that a step does, with every address decided.
struct Program {
  static constexpr int kFormatVersion = 2;

  int format_version = kFormatVersion;
  std::string name;
  std::string compile_hash;  ///< of all decisions that can change bits; empty where it was not compiled from a graph
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Residence> residences;
  std::vector<Segment> segments;
  std::vector<StateEntry> entry_state;
  std::vector<StateEntry> exit_state;
  std::vector<Output> outputs;
  std::array<int64_t, kSpaceCount> arena_bytes{};  ///< one arena a space, from offset 0
  friend bool operator==(const Program&, const Program&) = default;
};

/// Whether an instruction runs in this iteration of so many.
bool runs_in(When when, int64_t iteration, int64_t trips);
/// In how many of so many iterations an instruction runs.
int64_t count_runs(When when, int64_t trips);

std::string_view to_string(Lane lane);
std::string_view to_string(Role role);
std::string_view to_string(Kind kind);
std::string_view to_string(When when);

}  // namespace plimsoll::program
