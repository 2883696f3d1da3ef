// reduce_max: the largest element over some axes, or all.
#include <limits>

#include "ops/elementwise/extremum.h"
#include "ops/reduction/extremum_gradient.h"
#include "ops/reduction/reduce.h"

namespace plimsoll::ops {

void define_reduce_max(OpTable& table) {
  table.add(make_reduce({.name = "reduce_max",
                         .doc = "the largest element over axes, NaN where any is; equal ones share its gradient",
                         .start = -std::numeric_limits<double>::infinity(),
                         .combine = larger_or_nan,
                         .gradient = extremum_gradient,
                         .takes_empty = false}));
}

}  // namespace plimsoll::ops
