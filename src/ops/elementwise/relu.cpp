// relu: the positive part.
#include "ops/elementwise/unary.h"

namespace plimsoll::ops {

void define_relu(OpTable& table) {
  table.add(make_unary({.name = "relu",
                        .doc = "dst = max(src, 0)",
                        .function = [](double x) { return x <= 0 ? 0 : x; },
                        .gradient =
                            [](GradientContext& c) {
                              c.set_d_src(0, c.add("relu_grad", {c.dst(0), c.d_dst(0)}));
                            }}));
  table.add(make_unary_gradient(
      {.name = "relu_grad", .doc = "d_x = d_y where y > 0, else 0", .saved = "y", .function = [](double y, double d_y) {
         return y > 0 ? d_y : 0;
       }}));
}

}  // namespace plimsoll::ops
