// reduce_min: the smallest element over some axes, or all.
#include <limits>

#include "ops/elementwise/extremum.h"
#include "ops/reduction/extremum_gradient.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::ops {

void define_reduce_min(OpTable& table) {
  table.add(make_reduce({.name = "reduce_min",
                         .doc = "the smallest element over axes, NaN where any is; equal ones share its gradient",
                         .start = std::numeric_limits<double>::infinity(),
                         .combine = smaller_or_nan,
                         .gradient = extremum_gradient,
                         .takes_empty = false}));
}

}  // namespace plimsoll::ops
