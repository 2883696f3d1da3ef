#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "plan/check.h"
#include "program/program.h"

/// The parts of check_program and what they share. Requires everywhere: the program has passed check_structure.
namespace plimsoll::plan::check {

/// One instruction of a program.
struct Place {
  int segment = 0;
  int index = 0;
};

inline const program::Instruction& at(const program::Program& program, Place place) {
  return program.segments[place.segment].instructions[place.index];
}

/// "segment 1 'backward' instruction 12 'fc.grad'"
std::string describe(const program::Program& program, Place place);
/// The same with " operand 2 'dw'".
std::string describe(const program::Program& program, Place place, size_t operand);
std::string describe_range(int64_t begin, int64_t end);

/// Points as one count of instructions over all segments.
class Timeline {
 public:
  explicit Timeline(const program::Program& program);
  int at(program::Point point) const { return starts_[point.segment] + point.index; }
  int start_of(int segment) const { return starts_[segment]; }
  int end() const { return starts_.back(); }

 private:
  std::vector<int> starts_;  ///< by segment, and the end
};

/// How many iterations of a segment show all that can happen: `trips`, or fewer with the same slot in the last one.
/// Ordering and content look back no further than the time in which every slot comes round once.
int64_t iterations_to_run(const program::Program& program, int segment);

/// Where an operand's bytes begin in their space, in that iteration.
int64_t address_of(const program::Residence& residence, const program::Operand& operand, int64_t iteration);

inline bool writes(program::Role role) { return role != program::Role::kRead; }

Status check_instructions(const program::Program& program);
Status check_memory(const program::Program& program);
Status check_recomputation(const program::Program& program);
Status check_content(const program::Program& program);
Status check_order(const program::Program& program);

}  // namespace plimsoll::plan::check
