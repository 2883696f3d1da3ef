// reciprocal: one over.
#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

/// -d · dst².
void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("neg", {c.add("multiply", {c.d_dst(0), c.add("multiply", {c.dst(0), c.dst(0)})})}));
}

}  // namespace

void define_reciprocal(OpTable& table) {
  table.add(make_unary({.name = "reciprocal",
                        .doc = "dst = 1 / src",
                        .function = [](double x) { return 1 / x; },
                        .gradient = gradient,
                        .low = 0.5,
                        .high = 2}));
}

}  // namespace plimsoll::ops
