// That whoever makes the same version of the same bytes makes it from the same: a recomputation that reads an updated
// weight finds its version complete, and is wrong all the same.
#include <algorithm>
#include <map>

#include "plan/check_parts.h"

namespace plimsoll::plan::check {
namespace {

using program::Instruction;
using program::Operand;
using program::Program;
using program::Role;

struct Maker {
  int64_t begin = 0;
  int64_t end = 0;
  Place place;
};

/// A source of `b` that is another version of what `a` reads, or nothing.
const Operand* find_other_version(const Program& program, const Instruction& a, const Instruction& b) {
  for (const Operand& x : a.operands)
    for (const Operand& y : b.operands)
      if (x.role == Role::kRead && y.role == Role::kRead && x.version != y.version &&
          program.residences[x.residence].buffer == program.residences[y.residence].buffer &&
          x.begin_bytes < y.end_bytes && y.begin_bytes < x.end_bytes)
        return &y;
  return nullptr;
}

Status check_makers(const Program& program, int buffer, int version, std::vector<Maker>& makers) {
  std::ranges::stable_sort(makers, {}, &Maker::begin);
  const Maker* widest = nullptr;  // of those before, the one that reaches furthest
  for (const Maker& maker : makers) {
    if (widest != nullptr && maker.begin < widest->end)
      if (const Operand* other = find_other_version(program, at(program, widest->place), at(program, maker.place)))
        return invalid_argument(describe(program, maker.place) + " makes version " + std::to_string(version) + " of '" +
                                program.buffers[buffer].name + "' from version " + std::to_string(other->version) +
                                " of '" + program.buffers[program.residences[other->residence].buffer].name +
                                "'; segment " + std::to_string(widest->place.segment) + " instruction " +
                                std::to_string(widest->place.index) + " makes it from another version");
    if (widest == nullptr || maker.end > widest->end) widest = &maker;
  }
  return {};
}

}  // namespace

Status check_recomputation(const Program& program) {
  std::map<std::pair<int, int>, std::vector<Maker>> makers;  // by buffer and version
  for (int s = 0; s < std::ssize(program.segments); ++s)
    for (int i = 0; i < std::ssize(program.segments[s].instructions); ++i) {
      const Instruction& instruction = program.segments[s].instructions[i];
      if (instruction.kind != program::Kind::kCompute) continue;
      for (const Operand& operand : instruction.operands)
        if (writes(operand.role) && operand.role != Role::kWorkspace)
          makers[{program.residences[operand.residence].buffer, operand.version}].push_back(
              {operand.begin_bytes, operand.end_bytes, {s, i}});
    }
  for (auto& [made, list] : makers) PLIMSOLL_RETURN_IF_ERROR(check_makers(program, made.first, made.second, list));
  return {};
}

}  // namespace plimsoll::plan::check
