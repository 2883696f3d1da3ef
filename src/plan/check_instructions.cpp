// What one instruction says, taken alone: its kind's operands, sizes, alignment, lifetimes, and no operand under
// another.
#include <algorithm>

#include "plan/check_parts.h"

namespace plimsoll::plan::check {
namespace {

using program::Instruction;
using program::Kernel;
using program::Kind;
using program::Operand;
using program::Program;
using program::Residence;
using program::Role;

constexpr int64_t kWorkspaceAlignment = 64;

class InstructionCheck {
 public:
  InstructionCheck(const Program& program, const Timeline& timeline, Place place)
      : program_(program), timeline_(timeline), place_(place), instruction_(at(program, place)) {}

  Status run() const {
    for (size_t i = 0; i < instruction_.operands.size(); ++i) PLIMSOLL_RETURN_IF_ERROR(check_lifetime(i));
    PLIMSOLL_RETURN_IF_ERROR(instruction_.kind == Kind::kCompute ? check_kernel() : check_transfer());
    return check_overlaps();
  }

 private:
  const Residence& residence(size_t i) const { return program_.residences[instruction_.operands[i].residence]; }
  Error refusal(const std::string& what) const { return invalid_argument(describe(program_, place_) + " " + what); }
  Error refusal(size_t i, const std::string& what) const {
    return invalid_argument(describe(program_, place_, i) + " " + what);
  }

  Status check_lifetime(size_t i) const {
    const int now = timeline_.at({place_.segment, place_.index});
    if (timeline_.at(residence(i).first) <= now && now < timeline_.at(residence(i).last)) return {};
    return refusal(i, "is outside the lifetime of residence " + std::to_string(instruction_.operands[i].residence));
  }

  Status expect_roles(std::initializer_list<Role> roles) const {
    if (instruction_.operands.size() != roles.size())
      return refusal("has " + std::to_string(instruction_.operands.size()) + " operands; " +
                     std::string(to_string(instruction_.kind)) + " takes " + std::to_string(roles.size()));
    size_t i = 0;
    for (Role role : roles) {
      if (instruction_.operands[i].role != role)
        return refusal(i, "has role " + std::string(to_string(instruction_.operands[i].role)) + "; expected " +
                              std::string(to_string(role)));
      ++i;
    }
    return {};
  }

  Status check_transfer() const {
    switch (instruction_.kind) {
      case Kind::kFeed:
      case Kind::kZero: PLIMSOLL_RETURN_IF_ERROR(expect_roles({Role::kWrite})); return expect_disk({false});
      case Kind::kCheck:
        PLIMSOLL_RETURN_IF_ERROR(expect_roles({Role::kRead}));
        PLIMSOLL_RETURN_IF_ERROR(expect_bytes(0, sizeof(float)));
        return expect_disk({false});
      default:
        PLIMSOLL_RETURN_IF_ERROR(expect_roles({Role::kRead, Role::kWrite}));
        PLIMSOLL_RETURN_IF_ERROR(check_copied_range());
        return expect_disk({instruction_.kind == Kind::kRead, instruction_.kind == Kind::kWrite});
    }
  }

  Status expect_disk(std::initializer_list<bool> on_disk) const {
    size_t i = 0;
    for (bool is_on_disk : on_disk) {
      if ((residence(i).space == Space::kDisk) != is_on_disk)
        return refusal(i, std::string(is_on_disk ? "is not" : "is") + " on disk, which '" +
                              std::string(to_string(instruction_.kind)) + "' cannot have here");
      ++i;
    }
    return {};
  }

  /// A copy carries content: of one buffer, the same bytes in the same version.
  Status check_copied_range() const {
    const Operand& from = instruction_.operands[0];
    const Operand& to = instruction_.operands[1];
    PLIMSOLL_RETURN_IF_ERROR(expect_bytes(1, from.end_bytes - from.begin_bytes));
    if (residence(0).buffer != residence(1).buffer) return {};
    if (from.begin_bytes != to.begin_bytes) return refusal(1, "copies a buffer to other bytes of itself");
    if (from.version != to.version)
      return refusal(
          1, "makes version " + std::to_string(to.version) + " by copying version " + std::to_string(from.version));
    return {};
  }

  Status expect_bytes(size_t i, int64_t bytes) const {
    const Operand& operand = instruction_.operands[i];
    if (operand.end_bytes - operand.begin_bytes == bytes) return {};
    return refusal(i, "has " + std::to_string(operand.end_bytes - operand.begin_bytes) + " bytes; expected " +
                          std::to_string(bytes));
  }

  Status check_aligned(size_t i, int64_t alignment) const {
    const bool has_odd_slots = residence(i).slots > 1 && residence(i).stride_bytes % alignment != 0;
    if (address_of(residence(i), instruction_.operands[i], 0) % alignment == 0 && !has_odd_slots) return {};
    return refusal(i, "is not aligned to " + std::to_string(alignment) + " bytes");
  }

  Status check_kernel() const {
    const Kernel& kernel = program_.kernels[instruction_.kernel];
    if (instruction_.lane != program::Lane::kCompute && instruction_.lane != program::Lane::kHostCompute)
      return refusal("computes on lane " + std::string(to_string(instruction_.lane)));
    const size_t tensors = kernel.srcs.size() + kernel.dsts.size();
    const size_t count = instruction_.operands.size();
    if (count != tensors && count != tensors + 1)
      return refusal("has " + std::to_string(count) + " operands; its kernel '" + kernel.op + "' has " +
                     std::to_string(tensors) + " tensors");
    for (size_t i = 0; i < tensors; ++i) PLIMSOLL_RETURN_IF_ERROR(check_tensor(kernel, i));
    if (count > tensors) return check_workspace(kernel, tensors);
    return kernel.workspace_bytes == 0
               ? Status()
               : refusal("has no workspace; its kernel needs " + std::to_string(kernel.workspace_bytes) + " bytes");
  }

  Status check_tensor(const Kernel& kernel, size_t i) const {
    const bool is_src = i < kernel.srcs.size();
    const TensorDesc& desc = is_src ? kernel.srcs[i] : kernel.dsts[i - kernel.srcs.size()];
    PLIMSOLL_RETURN_IF_ERROR(expect_bytes(i, *try_size_bytes(desc)));
    PLIMSOLL_RETURN_IF_ERROR(check_aligned(i, plimsoll::size_bytes(desc.dtype)));
    if (residence(i).space == Space::kDisk) return refusal(i, "is on disk, where no kernel reaches it");
    const Role role = instruction_.operands[i].role;
    if (is_src != (role == Role::kRead) || role == Role::kWorkspace)
      return refusal(i, "has role " + std::string(to_string(role)) + ", which a kernel's " +
                            (is_src ? "source" : "destination") + " cannot have");
    return is_src ? Status() : check_adding(kernel, i);
  }

  /// The kernel must add where the role says that something is there to add to, and only there.
  Status check_adding(const Kernel& kernel, size_t i) const {
    const auto dst = static_cast<int>(i - kernel.srcs.size());
    const bool adds = std::ranges::count(kernel.accumulated_dsts, dst) > 0;
    const Operand& operand = instruction_.operands[i];
    if (operand.role == Role::kUpdate && operand.version == 0) return refusal(i, "updates to version 0");
    if (operand.role == Role::kUpdate && adds == has_source_in_place(i))
      return refusal(i, adds ? "is added into and a source at once"
                             : "is updated, but its kernel neither adds to it nor has it as a source");
    if (adds && operand.role == Role::kWrite) return refusal(i, "is added into, but its role is write");
    const bool runs_later = program_.segments[place_.segment].trips > 1 && instruction_.when != program::When::kFirst;
    if (!adds && operand.role == Role::kAccumulate && runs_later)
      return refusal(i, "must add in later iterations, but its kernel overwrites");
    return {};
  }

  bool has_source_in_place(size_t i) const {
    for (size_t src = 0; src < i; ++src)
      if (instruction_.operands[src].role == Role::kRead && share_bytes(src, i)) return true;
    return false;
  }

  Status check_workspace(const Kernel& kernel, size_t i) const {
    const Operand& operand = instruction_.operands[i];
    if (operand.role != Role::kWorkspace) return refusal(i, "stands where workspace does");
    if (residence(i).space == Space::kDisk) return refusal(i, "is workspace on disk");
    if (operand.end_bytes - operand.begin_bytes < kernel.workspace_bytes)
      return refusal(i, "has " + std::to_string(operand.end_bytes - operand.begin_bytes) +
                            " bytes of workspace; its kernel needs " + std::to_string(kernel.workspace_bytes));
    return check_aligned(i, kWorkspaceAlignment);
  }

  /// No write under another operand, but a source that a kernel overwrites in place, range for range.
  Status check_overlaps() const {
    const std::vector<Operand>& operands = instruction_.operands;
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = i + 1; j < operands.size(); ++j) {
        if ((!writes(operands[i].role) && !writes(operands[j].role)) || !share_bytes(i, j)) continue;
        if (!is_range_for_range(i, j))
          return refusal(j, "shares bytes with operand " + std::to_string(i) + ", and one of them is written");
        if (!may_be_in_place(i, j))
          return refusal(j, "is written over operand " + std::to_string(i) + ", which kernel '" +
                                program_.kernels[instruction_.kernel].op + "' does not do in place");
      }
    return {};
  }

  /// Residences that live at one time share nothing, so only one and the same can (checked by check_memory).
  bool share_bytes(size_t i, size_t j) const {
    const Operand& a = instruction_.operands[i];
    const Operand& b = instruction_.operands[j];
    return a.residence == b.residence && a.begin_bytes < b.end_bytes && b.begin_bytes < a.end_bytes;
  }

  /// Whether the kernel reads each byte of source i before it overwrites it as destination j.
  bool may_be_in_place(size_t i, size_t j) const {
    const Kernel& kernel = program_.kernels[instruction_.kernel];
    const program::InPlace pair{static_cast<int>(j - kernel.srcs.size()), static_cast<int>(i)};
    return std::ranges::count(kernel.in_place, pair) > 0;
  }

  bool is_range_for_range(size_t i, size_t j) const {
    const Operand& a = instruction_.operands[i];
    const Operand& b = instruction_.operands[j];
    return instruction_.kind == Kind::kCompute && a.role == Role::kRead &&
           (b.role == Role::kWrite || b.role == Role::kUpdate) && a.version != b.version &&
           a.begin_bytes == b.begin_bytes && a.end_bytes == b.end_bytes;
  }

  const Program& program_;
  const Timeline& timeline_;
  Place place_;
  const Instruction& instruction_;
};

}  // namespace

Status check_instructions(const Program& program) {
  const Timeline timeline(program);
  for (int s = 0; s < std::ssize(program.segments); ++s)
    for (int i = 0; i < std::ssize(program.segments[s].instructions); ++i)
      PLIMSOLL_RETURN_IF_ERROR(InstructionCheck(program, timeline, {s, i}).run());
  return {};
}

}  // namespace plimsoll::plan::check
