// sigmoid: the logistic function.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) { c.set_d_src(0, c.add("sigmoid_grad", {c.dst(0), c.d_dst(0)})); }

}  // namespace

void define_sigmoid(OpTable& table) {
  table.add(make_unary({.name = "sigmoid",
                        .doc = "dst = 1 / (1 + e^-src)",
                        .function = [](double x) { return 1 / (1 + std::exp(-x)); },
                        .gradient = gradient,
                        .flops_per_element = 4}));
  table.add(make_unary_gradient({.name = "sigmoid_grad",
                                 .doc = "d_x = d_y · y · (1 - y)",
                                 .saved = "y",
                                 .function = [](double y, double d_y) { return d_y * y * (1 - y); },
                                 .flops_per_element = 3,
                                 .low = 0,
                                 .high = 1}));
}

}  // namespace plimsoll::ops
