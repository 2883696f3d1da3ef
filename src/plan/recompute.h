#pragma once

#include "plan/problem.h"

namespace plimsoll::plan {

/// When an activation is made a second time instead of being kept from the forward to the backward pass.
struct RecomputeOptions {
  /// Most work that recomputation may add, as a share of the step's, by `work_of`.
  double most_work = 0.01;
  /// Where less than this share of all memory, state included, would be saved, nothing is recomputed.
  double least_saving = 0.05;
};

/// Bytes that an instruction moves, or the bytes that a machine moves in the time in which it computes as much: a
/// measure of time that is the same on every machine, so that what a plan needs does not hang on how fast it is.
double work_of(const ProblemInstruction& instruction);

/// Ends the life of cheap results, such as a norm's or a GELU's, at their last read before the tightest instruction and
/// makes them again before the next read, by the same kernel from the same sources, which are still there: same bits.
///
/// Taken are calls that wait for memory and not for arithmetic, the most bytes saved for the least work first, until
/// the tightest instruction has none left; of these, those that lowered the most that is alive at once.
/// Returns: the problem, or an equal one where it does not pay. Cost: O(recomputed · (buffers + instructions)).
/// Order: a pure function of its arguments.
/// Source: Chen et al., Training deep nets with sublinear memory cost, 2016, section 4, for the idea.
Problem recompute(Problem problem, const RecomputeOptions& options = {});

}  // namespace plimsoll::plan
