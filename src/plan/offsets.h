#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/result.h"

namespace plimsoll::plan {

/// One buffer to be given an address: how many bytes, and when it is alive.
struct Interval {
  int64_t lower = 0;      ///< first time alive
  int64_t upper = 0;      ///< first time no longer alive: the lifetime is half-open, lower < upper
  int64_t size = 0;       ///< bytes, at least 0; a buffer of 0 bytes may share any address
  int64_t alignment = 1;  ///< bytes; the offset becomes a multiple of it

  bool operator==(const Interval&) const = default;
};

/// Buffers that share one arena. Times are any integers; only their order matters.
///
/// Example: {0,4,size 2}, {0,2,size 3}, {2,4,size 3} needs 5 bytes: the first buffer at 0, the two others both at 2.
struct OffsetProblem {
  std::vector<Interval> buffers;
};

/// The techniques the planner tries, cheapest first. Each is a switch, so that tests can prove that every combination
/// gives valid plans; leave them on otherwise.
struct OffsetTechniques {
  bool split_whole = true;     ///< buffers alive throughout go to the bottom, where they fragment nothing
  bool stack = true;           ///< exact when lifetimes are pairwise nested or disjoint
  bool greedy = true;          ///< first fit and best fit in several orders
  bool local_search = true;    ///< a short iterated local search on the greedy order
  bool tree_search = true;     ///< depth-first search; the only one that proves that a height is impossible
  bool decompose = true;       ///< tree search: parts with no common buffer left are solved apart
  bool twins = true;           ///< tree search: equal buffers are interchangeable
  bool commit_free = true;     ///< tree search: a placement that hinders nobody is never undone alone
  bool chase_floating = true;  ///< tree search: a postponed buffer rises with all that could still carry it
};

struct OffsetOptions {
  /// Bytes. When set, any packing within it will do; otherwise the height is brought down to the lower bound if
  /// possible.
  std::optional<int64_t> capacity;
  /// Most nodes of the tree search for problems of up to 256 buffers; larger ones get proportionally fewer, because
  /// each node costs more. The default is worth 10 to 20 s on a hard problem; easy ones stop as soon as the bound is
  /// met.
  int64_t effort = 4'000'000;
  /// Cuts the search after this time. With it the answer may depend on the machine's speed; without it never.
  std::optional<double> seconds;
  OffsetTechniques techniques;
};

struct OffsetSolution {
  std::vector<int64_t> offsets;  ///< bytes, one a buffer, in the problem's order
  int64_t height = 0;            ///< bytes: the greatest offset + size
  int64_t lower_bound = 0;       ///< bytes: the greatest sum of sizes alive at one time; no packing is lower
  int64_t nodes = 0;             ///< visited by the tree search
  bool proven_least = false;  ///< no packing is lower than `height`: it equals the bound, or the search was exhausted
};

/// Gives each buffer an offset so that buffers alive at the same time never overlap, as low as possible.
///
/// Errors: invalid_argument for an empty lifetime, a negative size, an alignment below 1 or sums beyond int64;
/// infeasible when `capacity` is given and no packing within it was found (the message says whether none exists).
/// Memory: O(sum over buffers of the buffers alive with it), 4 bytes each.
/// Order: a pure function of problem and options (without `seconds`); equal input gives equal offsets.
/// Source: dynamic storage allocation; the search follows the canonical-solution idea of Moffitt, "MiniMalloc" (2023).
Result<OffsetSolution> try_plan_offsets(const OffsetProblem& problem, const OffsetOptions& options = {});

}  // namespace plimsoll::plan
