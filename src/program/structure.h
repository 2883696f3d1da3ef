#pragma once

#include <limits>

#include "core/result.h"
#include "program/program.h"

namespace plimsoll::program {

/// No offset, size or extent of slots is larger, so that sums of a few of them fit into int64.
inline constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 4;

/// Checks that every index points at something, every range lies within its owner, every enumerator exists and every
/// size is sound, so that later code may use them without looking. What the instructions mean is not judged here.
///
/// Errors: corrupt with the path of the first wrong field, e.g. `segments[1].instructions[4].operands[0].residence`.
/// Cost: linear in the program's size.
Status check_structure(const Program& program);

}  // namespace plimsoll::program
