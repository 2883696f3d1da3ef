// exp: the exponential.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("multiply", {c.d_dst(0), c.dst(0)})); }

}  // namespace

void define_exp(OpTable& table) {
  table.add(make_unary(
      {.name = "exp", .doc = "dst = e^src", .function = [](double x) { return std::exp(x); }, .gradient = gradient}));
}

}  // namespace plimsoll::ops
