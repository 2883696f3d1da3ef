// minimum: the smaller of two tensors that broadcast.
#include "ops/elementwise/extremum.h"

namespace plimsoll::ops {
void define_minimum(OpTable& table) {
  table.add(make_binary({.name = "minimum",
                         .doc = "dst = the smaller of a and b, NaN where either is; extents broadcast",
                         .function = smaller_or_nan,
                         .gradient = [](GradientContext& c) { pass_to_taken(c, "le"); }}));
}

}  // namespace plimsoll::ops
