// sin: the sine.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("multiply", {c.d_dst(0), c.add("cos", {c.src(0)})})); }

}  // namespace

void define_sin(OpTable& table) {
  table.add(make_unary({.name = "sin",
                        .doc = "dst = sin src, in radians",
                        .function = [](double x) { return std::sin(x); },
                        .gradient = gradient}));
}

}  // namespace plimsoll::ops
