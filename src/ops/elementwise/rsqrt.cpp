// rsqrt: one over the square root.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

/// -d · dst / (2 · src).
void gradient(GradientContext& c) {
  const auto half = c.add("multiply", {c.d_dst(0), c.constant(-0.5, c.src_desc(0).dtype)});
  c.set_d_src(0, c.add("divide", {c.add("multiply", {half, c.dst(0)}), c.src(0)}));
}

}  // namespace

void define_rsqrt(OpTable& table) {
  table.add(make_unary({.name = "rsqrt",
                        .doc = "dst = 1 / the square root of src",
                        .function = [](double x) { return 1 / std::sqrt(x); },
                        .gradient = gradient,
                        .flops_per_element = 2,
                        .low = 0.1,
                        .high = 4}));
}

}  // namespace plimsoll::ops
