// maximum: the larger of two tensors that broadcast.
#include "ops/elementwise/extremum.h"

namespace plimsoll::ops {
void define_maximum(OpTable& table) {
  table.add(make_binary({.name = "maximum",
                         .doc = "dst = the larger of a and b, NaN where either is; extents broadcast",
                         .function = larger_or_nan,
                         .gradient = [](GradientContext& c) { pass_to_taken(c, "ge"); }}));
}

}  // namespace plimsoll::ops
