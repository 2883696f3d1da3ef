// neg: the negative.
#include "ops/elementwise/unary.h"

namespace plimsoll::ops {

void define_neg(OpTable& table) {
  table.add(make_unary({.name = "neg",
                        .doc = "dst = -src",
                        .function = [](double x) { return -x; },
                        .gradient = [](GradientContext& c) { c.set_d_src(0, c.add("neg", {c.d_dst(0)})); }}));
}

}  // namespace plimsoll::ops
