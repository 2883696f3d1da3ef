#pragma once

#include "core/bytes.h"
#include "core/result.h"
#include "plan/offsets.h"
#include "plan/problem.h"

namespace plimsoll::plan {

struct PlanOptions {
  program::Space space = program::Space::kHost;  ///< where compute and state are
  std::optional<Bytes> budget{};                 ///< for the arena of `space`
  /// Bytes left free on both sides of each workspace, for runs that watch them (runtime/guard.h).
  int64_t fence_bytes = 0;
  /// A 20th of what is searched by default: a second at the most on a hard step, as a step's plan is waited for, and a
  /// refusal makes several.
  OffsetOptions offsets{.effort = 200'000};
};

/// A program and what was learned while it was made. Sizes in bytes.
struct Plan {
  program::Program program;
  int64_t state_bytes = 0;       ///< the state region, rounded up to kAlignment
  int64_t step_bytes = 0;        ///< the step region's height
  int64_t step_lower_bound = 0;  ///< no offsets can be lower: the most that is alive at once in the step region
  int64_t arena_bytes = 0;       ///< one past the last byte used
  program::Point tightest;       ///< where the most is alive
  double predicted_s = 0;        ///< of one step, all trips counted
  struct Holder {
    std::string name;
    program::Category category;
    int64_t size_bytes;
  };
  std::vector<Holder> holders;  ///< alive at the tightest point, largest first, workspace included
};

/// Fills in the tightest step and the holders of `why`.
void describe_tightest(const Plan& plan, Infeasible& why);

/// Seconds of one step by the durations of the problem's instructions, one behind the other, all trips counted.
double predict_s(const Problem& problem);

/// The error of make_plan about sizes: what is added up in a problem that passes does not overflow.
Status check_sizes(const Problem& problem, const PlanOptions& options = {});

/// Decides an address for every buffer and turns the problem into a program.
///
/// Errors: infeasible with the least budget that would do, the tightest step and its largest holders; invalid_argument
/// where a size is negative or all of them together overflow. Order: a pure function of its arguments.
Result<Plan> make_plan(const Problem& problem, const PlanOptions& options = {});

}  // namespace plimsoll::plan
