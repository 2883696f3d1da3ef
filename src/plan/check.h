#pragma once

#include <array>
#include <limits>

#include "core/result.h"
#include "program/program.h"

namespace plimsoll::plan {

/// The most bytes that a program may hold in each space.
struct Budgets {
  std::array<int64_t, kSpaceCount> bytes{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max(),
                                         std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()};
};

/// Proves of a program, before it runs, that it stays within its memory and computes what it says. Knows nothing of how
/// plans are made. What holds afterwards:
///
/// - every index, range and size is sound (program/structure.h), every operand fits its kernel, and workspace is as
///   large as the kernel needs and 64-byte aligned;
/// - no instruction writes over bytes that it reads or writes as another operand, but a destination over a source where
///   the kernel says that it works in place;
/// - no two residences are at one address at one time, in any slot; all lie within the arenas, and those within the
///   budgets, at every instruction;
/// - every read finds the version of the bytes that it names, complete, made in its own iteration, or before the
/// segment
///   and the same for all iterations (kAccumulate: in the previous iteration; kUpdate: in any);
/// - whoever makes the same version of the same bytes makes it by the same op and attributes, from the same versions of
///   the same bytes: a recomputation gives what the first computation gave;
/// - instructions on different lanes that touch the same bytes, one of them writing, are ordered by lanes and waits,
///   within and across iterations; waits form no cycle;
/// - the state ends in the residences that it began in, complete, in the versions promised;
/// - outputs are complete at the end, in their versions, of all iterations.
///
/// Loops are run symbolically: the first iterations, as many as it takes for every slot to come round, and the last.
///
/// Errors: invalid_argument with the first instruction and operand that is wrong, and what (structure: corrupt).
/// Cost: O(operands · iterations run · log operands); 10,000 instructions in four iterations take some 0.1 s.
Status check_program(const program::Program& program, const Budgets& budgets);

/// The part of check_program that needs budgets, for where these are known later than the program.
/// Errors: invalid_argument with the first space whose arena has more bytes than its budget.
Status check_budgets(const program::Program& program, const Budgets& budgets);

}  // namespace plimsoll::plan
