// sqrt: the square root.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

/// d / (2 · dst).
void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("divide", {c.add("multiply", {c.d_dst(0), c.constant(0.5, c.src_desc(0).dtype)}), c.dst(0)}));
}

}  // namespace

void define_sqrt(OpTable& table) {
  table.add(make_unary({.name = "sqrt",
                        .doc = "dst = the square root of src",
                        .function = [](double x) { return std::sqrt(x); },
                        .gradient = gradient,
                        .low = 0.1,
                        .high = 4}));
}

}  // namespace plimsoll::ops
