// reduce_min: the smallest element over some axes, or all.
#include <algorithm>
#include <limits>

#include "ops/reduction/extremum_gradient.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::ops {

void define_reduce_min(OpTable& table) {
  table.add(make_reduce({.name = "reduce_min",
                         .doc = "the smallest element over axes; equal ones share its gradient",
                         .start = std::numeric_limits<double>::infinity(),
                         .combine = [](double so_far, double x) { return std::min(so_far, x); },
                         .gradient = extremum_gradient,
                         .takes_empty = false}));
}

}  // namespace plimsoll::ops
