#pragma once

#include <algorithm>
#include <vector>

namespace plimsoll::report {

/// What one call of a kernel computes and moves, by its op's formula.
struct CallWork {
  double flops = 0;
  double bytes = 0;
};

/// What the kernels of a program have to do, and what the machine does in a second: the least time that a call can take
/// (Williams et al. 2009, "Roofline").
struct Roofline {
  std::vector<CallWork> calls;  ///< by kernel of the program
  double flops_per_s = 0;
  double bytes_per_s = 0;

  /// What it computes or what it moves, whichever takes longer. Requires: both rates are above 0.
  double bound_s(const CallWork& call) const { return std::max(call.flops / flops_per_s, call.bytes / bytes_per_s); }
};

}  // namespace plimsoll::report
