// sign: the sign.
#include <cmath>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {

void define_sign(OpTable& table) {
  table.add(make_unary({.name = "sign",
                        .doc = "dst = -1, 0 or 1, NaN of NaN; not differentiable",
                        .function = [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }}));
}

}  // namespace plimsoll::ops
