// divide: the quotient of two tensors that broadcast.
#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

/// d_a = d / b and d_b = -(d / b) · dst, so that a itself need not be kept.
void gradient(GradientContext& c) {
  if (!c.wants(0) && !c.wants(1)) return;
  const graph::ValueId d_a = c.add("divide", {c.d_dst(0), c.src(1)});
  set_binary_gradients(
      c, [&] { return d_a; },
      [&] {
        return c.add("neg", {c.add("multiply", {d_a, c.dst(0)})});
      });
}

}  // namespace

void define_divide(OpTable& table) {
  table.add(make_binary({.name = "divide",
                         .doc = "dst = a / b; extents broadcast",
                         .function = [](double a, double b) { return a / b; },
                         .gradient = gradient,
                         .low_b = 0.5,
                         .high_b = 2}));
}

}  // namespace plimsoll::ops
