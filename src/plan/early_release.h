#pragma once

#include "plan/problem.h"

namespace plimsoll::plan {

/// Moves what writes state, ends the life of a buffer and begins none to directly behind what it depends on, within its
/// segment: the optimizer then follows each gradient as soon as that is complete and the parameter has been read for
/// the last time, so that gradients need not all be alive at once.
///
/// It stays behind every check that it was behind, so that a step that is stopped changes no state.
/// Where one value is made of all gradients, such as a global norm, updates wait for it and nothing moves; so where the
/// update is a segment of its own, behind microbatches. Instructions that touch the same bytes, one of them writing,
/// keep their order: no bit changes. At no instruction is more alive than there was.
///
/// Cost: O(moved · instructions · uses). Order: a pure function of its argument.
Problem release_early(Problem problem);

}  // namespace plimsoll::plan
