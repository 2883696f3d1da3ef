#include "program/structure.h"

#include <limits>
#include <span>

namespace plimsoll::program {
namespace {

/// Where a field is, such as `buffers[3].size_bytes`; spelled out only where there is a fault.
class Path {
 public:
  explicit Path(const char* name, size_t index = kNoIndex) { parts_[size_++] = {name, index}; }

  Path at(const char* name, size_t index = kNoIndex) const {
    Path out = *this;
    out.parts_[out.size_++] = {name, index};
    return out;
  }

  std::string to_string() const {
    std::string out;
    for (const Part& part : std::span(parts_).first(size_)) {
      out += (out.empty() ? "" : ".") + std::string(part.name);
      if (part.index != kNoIndex) out += "[" + std::to_string(part.index) + "]";
    }
    return out;
  }

 private:
  static constexpr size_t kNoIndex = std::numeric_limits<size_t>::max();
  struct Part {
    const char* name = nullptr;
    size_t index = kNoIndex;
  };
  std::array<Part, 4> parts_;  // `segments[0].instructions[7].operands[1].version` is the deepest
  size_t size_ = 0;
};

Error fault(const Path& path, const std::string& what) { return corrupt("[program] " + path.to_string() + " " + what); }

Status check_within(const Path& path, int64_t value, int64_t least, int64_t end) {
  if (value >= least && value < end) return {};
  if (least == end) return fault(path, "is " + std::to_string(value) + ", but there is nothing to point at");
  return fault(path,
               "is " + std::to_string(value) + "; expected " + std::to_string(least) + ".." + std::to_string(end - 1));
}

Status check_not_negative(const Path& path, int64_t value) {
  if (value >= 0) return {};
  return fault(path, "is " + std::to_string(value) + "; expected 0 or more");
}

template <class Enum>
Status check_enumerator(const Path& path, Enum value, int count) {
  return check_within(path, static_cast<int>(value), 0, count);
}

Status check_descs(const Path& path, const char* list, const std::vector<TensorDesc>& descs) {
  for (size_t i = 0; i < descs.size(); ++i)
    if (!try_size_bytes(descs[i])) return fault(path.at(list, i), "has no sound size");
  return {};
}

Status check_kernel(const Path& path, const Kernel& kernel) {
  PLIMSOLL_RETURN_IF_ERROR(check_descs(path, "srcs", kernel.srcs));
  PLIMSOLL_RETURN_IF_ERROR(check_descs(path, "dsts", kernel.dsts));
  for (size_t i = 0; i < kernel.accumulated_dsts.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("accumulated_dsts", i), kernel.accumulated_dsts[i], 0,
                                          static_cast<int64_t>(kernel.dsts.size())));
  for (size_t i = 0; i < kernel.in_place.size(); ++i) {
    const Path pair = path.at("in_place", i);
    PLIMSOLL_RETURN_IF_ERROR(check_within(pair.at("dst"), kernel.in_place[i].dst, 0, std::ssize(kernel.dsts)));
    PLIMSOLL_RETURN_IF_ERROR(check_within(pair.at("src"), kernel.in_place[i].src, 0, std::ssize(kernel.srcs)));
  }
  return check_not_negative(path.at("workspace_bytes"), kernel.workspace_bytes);
}

Status check_buffer(const Path& path, const Buffer& buffer) {
  PLIMSOLL_RETURN_IF_ERROR(check_not_negative(path.at("size_bytes"), buffer.size_bytes));
  return check_enumerator(path.at("category"), buffer.category, kCategoryCount);
}

Status check_range(const Path& path, int64_t begin, int64_t end, int64_t least, int64_t most) {
  if (least <= begin && begin <= end && end <= most) return {};
  return fault(path, "covers bytes [" + std::to_string(begin) + "," + std::to_string(end) + "); expected a range in [" +
                         std::to_string(least) + "," + std::to_string(most) + ")");
}

Status check_point(const Path& path, Point point, const Program& program) {
  const auto segments = static_cast<int64_t>(program.segments.size());
  PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("segment"), point.segment, 0, segments + 1));
  const int64_t size =
      point.segment == segments ? 0 : static_cast<int64_t>(program.segments[point.segment].instructions.size());
  return check_within(path.at("index"), point.index, 0, size + 1);
}

/// The extent of all slots must fit in int64, so that later sums need no check.
Status check_extent(const Path& path, const Residence& residence) {
  PLIMSOLL_RETURN_IF_ERROR(check_not_negative(path.at("offset_bytes"), residence.offset_bytes));
  if (residence.slots < 1)
    return fault(path.at("slots"), "is " + std::to_string(residence.slots) + "; expected 1 or more");
  PLIMSOLL_RETURN_IF_ERROR(check_not_negative(path.at("stride_bytes"), residence.stride_bytes));
  if (residence.slots > 1 && residence.stride_bytes < residence.size_bytes())
    return fault(path.at("stride_bytes"), "is less than one slot's size of " + std::to_string(residence.size_bytes()));
  const auto slots = checked_multiply(residence.slots, residence.stride_bytes);
  if (!slots || *slots > kMostBytes || residence.offset_bytes > kMostBytes || residence.size_bytes() > kMostBytes)
    return fault(path, "ends at an address that overflows");
  return {};
}

Status check_residence(const Path& path, const Residence& residence, const Program& program) {
  PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("buffer"), residence.buffer, 0, std::ssize(program.buffers)));
  PLIMSOLL_RETURN_IF_ERROR(
      check_range(path, residence.begin_bytes, residence.end_bytes, 0, program.buffers[residence.buffer].size_bytes));
  PLIMSOLL_RETURN_IF_ERROR(check_enumerator(path.at("space"), residence.space, kSpaceCount));
  PLIMSOLL_RETURN_IF_ERROR(check_extent(path, residence));
  PLIMSOLL_RETURN_IF_ERROR(check_point(path.at("first"), residence.first, program));
  PLIMSOLL_RETURN_IF_ERROR(check_point(path.at("last"), residence.last, program));
  if (residence.last < residence.first) return fault(path.at("last"), "comes before its first");
  return {};
}

Status check_operand(const Path& path, const Operand& operand, const Program& program) {
  PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("residence"), operand.residence, 0, std::ssize(program.residences)));
  const Residence& residence = program.residences[operand.residence];
  PLIMSOLL_RETURN_IF_ERROR(
      check_range(path, operand.begin_bytes, operand.end_bytes, residence.begin_bytes, residence.end_bytes));
  PLIMSOLL_RETURN_IF_ERROR(check_not_negative(path.at("version"), operand.version));
  return check_enumerator(path.at("role"), operand.role, kRoleCount);
}

using LaneCounts = std::array<int, kLaneCount>;

Status check_instruction(const Path& path, const Instruction& instruction, const Program& program,
                         const LaneCounts& counts) {
  PLIMSOLL_RETURN_IF_ERROR(check_enumerator(path.at("kind"), instruction.kind, kKindCount));
  PLIMSOLL_RETURN_IF_ERROR(check_enumerator(path.at("when"), instruction.when, kWhenCount));
  if (instruction.kind == Kind::kCompute)
    PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("kernel"), instruction.kernel, 0, std::ssize(program.kernels)));
  else if (instruction.kernel != -1)
    return fault(path.at("kernel"), "is " + std::to_string(instruction.kernel) + ", but only compute has a kernel");
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_operand(path.at("operands", i), instruction.operands[i], program));
  for (size_t i = 0; i < instruction.waits.size(); ++i) {
    const Wait& wait = instruction.waits[i];
    const Path at = path.at("waits", i);
    PLIMSOLL_RETURN_IF_ERROR(check_enumerator(at.at("lane"), wait.lane, kLaneCount));
    PLIMSOLL_RETURN_IF_ERROR(check_within(at.at("index"), wait.index, 0, counts[static_cast<size_t>(wait.lane)]));
  }
  return {};
}

Status check_segment(const Path& path, const Segment& segment, const Program& program) {
  if (segment.trips < 1) return fault(path.at("trips"), "is " + std::to_string(segment.trips) + "; expected 1 or more");
  LaneCounts counts{};
  for (size_t i = 0; i < segment.instructions.size(); ++i) {
    const Lane lane = segment.instructions[i].lane;
    PLIMSOLL_RETURN_IF_ERROR(check_enumerator(path.at("instructions", i).at("lane"), lane, kLaneCount));
    ++counts[static_cast<size_t>(lane)];
  }
  for (size_t i = 0; i < segment.instructions.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_instruction(path.at("instructions", i), segment.instructions[i], program, counts));
  return {};
}

Status check_state(const char* list, const std::vector<StateEntry>& state, const Program& program) {
  for (size_t i = 0; i < state.size(); ++i) {
    PLIMSOLL_RETURN_IF_ERROR(check_within(Path(list, i).at("residence"), state[i].residence, 0,
                                          static_cast<int64_t>(program.residences.size())));
    PLIMSOLL_RETURN_IF_ERROR(check_not_negative(Path(list, i).at("version"), state[i].version));
  }
  return {};
}

Status check_output(const Path& path, const Output& output, const Program& program) {
  PLIMSOLL_RETURN_IF_ERROR(check_within(path.at("residence"), output.residence, 0, std::ssize(program.residences)));
  const Residence& residence = program.residences[output.residence];
  PLIMSOLL_RETURN_IF_ERROR(
      check_range(path, output.begin_bytes, output.end_bytes, residence.begin_bytes, residence.end_bytes));
  return check_not_negative(path.at("version"), output.version);
}

}  // namespace

Status check_structure(const Program& program) {
  if (program.format_version != Program::kFormatVersion)
    return fault(Path("format_version"), "is " + std::to_string(program.format_version) + "; expected " +
                                             std::to_string(Program::kFormatVersion));
  for (size_t i = 0; i < program.arena_bytes.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_not_negative(Path("arena_bytes", i), program.arena_bytes[i]));
  for (size_t i = 0; i < program.kernels.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_kernel(Path("kernels", i), program.kernels[i]));
  for (size_t i = 0; i < program.buffers.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_buffer(Path("buffers", i), program.buffers[i]));
  for (size_t i = 0; i < program.residences.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_residence(Path("residences", i), program.residences[i], program));
  for (size_t i = 0; i < program.segments.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_segment(Path("segments", i), program.segments[i], program));
  PLIMSOLL_RETURN_IF_ERROR(check_state("entry_state", program.entry_state, program));
  PLIMSOLL_RETURN_IF_ERROR(check_state("exit_state", program.exit_state, program));
  for (size_t i = 0; i < program.outputs.size(); ++i)
    PLIMSOLL_RETURN_IF_ERROR(check_output(Path("outputs", i), program.outputs[i], program));
  return {};
}

}  // namespace plimsoll::program
