// That whoever makes the same version of the same bytes makes the same of them: a recomputation that reads an updated
// weight, another buffer or other attributes finds all its sources complete, and is wrong all the same.
#include <algorithm>
#include <map>

#include "plan/check_parts.h"

namespace plimsoll::plan::check {
namespace {

using program::Instruction;
using program::Kernel;
using program::Kind;
using program::Operand;
using program::Program;
using program::Role;
using program::When;

/// A destination of an instruction that makes content of its own.
struct Maker {
  int64_t begin = 0;
  int64_t end = 0;
  Place place;
  size_t operand = 0;

  bool has_range_of(const Maker& other) const { return begin == other.begin && end == other.end; }
};

/// Content that an instruction starts from.
struct Source {
  int buffer = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int version = 0;
  friend bool operator==(const Source&, const Source&) = default;
};

/// Sources in the kernel's order, and what is updated, which is read too.
std::vector<Source> sources_of(const Program& program, const Instruction& instruction) {
  std::vector<Source> out;
  for (const Operand& operand : instruction.operands) {
    if (operand.role != Role::kRead && operand.role != Role::kUpdate) continue;
    const int version = operand.role == Role::kUpdate ? operand.version - 1 : operand.version;
    out.push_back({program.residences[operand.residence].buffer, operand.begin_bytes, operand.end_bytes, version});
  }
  return out;
}

/// A copy within one buffer moves content and makes none.
bool makes_content(const Program& program, const Instruction& instruction) {
  switch (instruction.kind) {
    case Kind::kCheck: return false;
    case Kind::kCopy:
    case Kind::kRead:
    case Kind::kWrite:
      return program.residences[instruction.operands[0].residence].buffer !=
             program.residences[instruction.operands[1].residence].buffer;
    default: return true;
  }
}

/// Two makers of one version, of the same bytes or of some in common.
class MakerPair {
 public:
  MakerPair(const Program& program, const Maker& a, const Maker& b)
      : program_(program), a_(a), b_(b), first_(at(program, a.place)), second_(at(program, b.place)) {}

  Status run() const {
    if (!has_same_rule()) return refusal("by " + name_rule(second_), "by " + name_rule(first_));
    if (!has_same_roles())
      return refusal("as " + std::string(to_string(role_of(b_))), "as " + std::string(to_string(role_of(a_))));
    const std::vector<Source> ours = sources_of(program_, second_);
    const std::vector<Source> theirs = sources_of(program_, first_);
    if (ours.size() != theirs.size())
      return refusal("from " + std::to_string(ours.size()) + " sources",
                     "from " + std::to_string(theirs.size()) + " sources");
    for (size_t i = 0; i < ours.size(); ++i)
      if (!is_same(ours[i], theirs[i])) return refusal("from " + name(ours[i]), "from " + name(theirs[i]));
    return {};
  }

 private:
  Role role_of(const Maker& maker) const { return at(program_, maker.place).operands[maker.operand].role; }

  bool has_same_rule() const {
    if (first_.kind != second_.kind) return false;
    if (first_.kind == Kind::kFeed) return first_.label == second_.label;
    if (first_.kind != Kind::kCompute) return true;
    const Kernel& a = program_.kernels[first_.kernel];
    const Kernel& b = program_.kernels[second_.kernel];
    if (a.op != b.op || a.attributes != b.attributes || a_.operand != b_.operand) return false;
    return !a_.has_range_of(b_) || (a.srcs == b.srcs && a.dsts == b.dsts);
  }

  /// The first iteration may write what the later ones add to.
  bool has_same_roles() const {
    const bool a_adds = role_of(a_) == Role::kAccumulate, b_adds = role_of(b_) == Role::kAccumulate;
    if (a_adds == b_adds) return true;
    const Instruction& writer = a_adds ? second_ : first_;
    const Instruction& adder = a_adds ? first_ : second_;
    return writer.when == When::kFirst && adder.when == When::kNotFirst;
  }

  /// Makers of pieces need pieces.
  bool is_same(const Source& a, const Source& b) const {
    if (a_.has_range_of(b_)) return a == b;
    return a.buffer == b.buffer && a.version == b.version;
  }

  std::string name_rule(const Instruction& instruction) const {
    if (instruction.kind != Kind::kCompute)
      return std::string(to_string(instruction.kind)) + " '" + instruction.label + "'";
    const Kernel& kernel = program_.kernels[instruction.kernel];
    return kernel.op + to_string(kernel.attributes);
  }

  std::string name(const Source& source) const {
    return "version " + std::to_string(source.version) + " of '" + program_.buffers[source.buffer].name + "' " +
           describe_range(source.begin, source.end);
  }

  Error refusal(const std::string& here, const std::string& there) const {
    const Operand& made = second_.operands[b_.operand];
    return invalid_argument(describe(program_, b_.place) + " makes version " + std::to_string(made.version) + " of '" +
                            program_.buffers[program_.residences[made.residence].buffer].name + "' " + here +
                            "; segment " + std::to_string(a_.place.segment) + " instruction " +
                            std::to_string(a_.place.index) + " makes it " + there);
  }

  const Program& program_;
  const Maker& a_;
  const Maker& b_;
  const Instruction& first_;
  const Instruction& second_;
};

/// Compares each maker with one of every other range that has bytes in common with its own.
Status check_makers(const Program& program, std::vector<Maker>& makers) {
  std::ranges::stable_sort(makers, {}, [](const Maker& maker) { return std::pair(maker.begin, maker.end); });
  std::vector<const Maker*> open;  // one a range, of those that reach beyond where the sweep is
  for (const Maker& maker : makers) {
    std::erase_if(open, [&](const Maker* other) { return other->end <= maker.begin; });
    bool is_known = false;
    for (const Maker* other : open) {
      PLIMSOLL_RETURN_IF_ERROR(MakerPair(program, *other, maker).run());
      is_known = is_known || other->has_range_of(maker);
    }
    if (!is_known) open.push_back(&maker);
  }
  return {};
}

}  // namespace

Status check_recomputation(const Program& program) {
  std::map<std::pair<int, int>, std::vector<Maker>> makers;  // by buffer and version
  for (int s = 0; s < std::ssize(program.segments); ++s)
    for (int i = 0; i < std::ssize(program.segments[s].instructions); ++i) {
      const Instruction& instruction = program.segments[s].instructions[i];
      if (!makes_content(program, instruction)) continue;
      for (size_t k = 0; k < instruction.operands.size(); ++k) {
        const Operand& operand = instruction.operands[k];
        if (writes(operand.role) && operand.role != Role::kWorkspace)
          makers[{program.residences[operand.residence].buffer, operand.version}].push_back(
              {operand.begin_bytes, operand.end_bytes, {s, i}, k});
      }
    }
  for (auto& [made, list] : makers) PLIMSOLL_RETURN_IF_ERROR(check_makers(program, list));
  return {};
}

}  // namespace plimsoll::plan::check
