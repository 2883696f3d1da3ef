// multiply: the product, element by element, of two tensors that broadcast.
#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) {
  set_binary_gradients(
      c,
      [&] {
        return c.add("multiply", {c.d_dst(0), c.src(1)});
      },
      [&] {
        return c.add("multiply", {c.d_dst(0), c.src(0)});
      });
}

}  // namespace

void define_multiply(OpTable& table) {
  table.add(make_binary({.name = "multiply",
                         .doc = "dst = a · b, element by element; extents broadcast",
                         .function = [](double a, double b) { return a * b; },
                         .gradient = gradient}));
}

}  // namespace plimsoll::ops
