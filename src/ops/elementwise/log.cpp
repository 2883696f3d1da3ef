// log: the natural logarithm.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("divide", {c.d_dst(0), c.src(0)})); }

}  // namespace

void define_log(OpTable& table) {
  table.add(make_unary({.name = "log",
                        .doc = "dst = ln src",
                        .function = [](double x) { return std::log(x); },
                        .gradient = gradient,
                        .low = 0.1,
                        .high = 4}));
}

}  // namespace plimsoll::ops
