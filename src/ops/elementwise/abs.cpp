// abs: the absolute value.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("multiply", {c.d_dst(0), c.add("sign", {c.src(0)})})); }

}  // namespace

void define_abs(OpTable& table) {
  table.add(make_unary({.name = "abs",
                        .doc = "dst = src without its sign; the gradient at 0 is 0",
                        .function = [](double x) { return std::abs(x); },
                        .gradient = gradient}));
}

}  // namespace plimsoll::ops
