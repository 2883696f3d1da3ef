// cos: the cosine.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) {
  c.set_d_src(0, c.add("neg", {c.add("multiply", {c.d_dst(0), c.add("sin", {c.src(0)})})}));
}

}  // namespace

void define_cos(OpTable& table) {
  table.add(make_unary({.name = "cos",
                        .doc = "dst = cos src, in radians",
                        .function = [](double x) { return std::cos(x); },
                        .gradient = gradient}));
}

}  // namespace plimsoll::ops
