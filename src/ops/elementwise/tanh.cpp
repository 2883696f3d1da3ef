// tanh: the hyperbolic tangent.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("tanh_grad", {c.dst(0), c.d_dst(0)})); }

}  // namespace

void define_tanh(OpTable& table) {
  table.add(make_unary({.name = "tanh",
                        .doc = "dst = tanh src",
                        .function = [](double x) { return std::tanh(x); },
                        .gradient = gradient}));
  table.add(make_unary_gradient({.name = "tanh_grad",
                                 .doc = "d_x = d_y · (1 - y²)",
                                 .saved = "y",
                                 .function = [](double y, double d_y) { return d_y * (1 - y * y); },
                                 .flops_per_element = 3,
                                 .low = -1,
                                 .high = 1}));
}

}  // namespace plimsoll::ops
