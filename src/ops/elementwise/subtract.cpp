// subtract: the difference of two tensors that broadcast.
#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) {
  set_binary_gradients(
      c, [&] { return c.d_dst(0); }, [&] { return c.add("neg", {c.d_dst(0)}); });
}

}  // namespace

void define_subtract(OpTable& table) {
  table.add(make_binary({.name = "subtract",
                         .doc = "dst = a - b; extents broadcast",
                         .function = [](double a, double b) { return a - b; },
                         .gradient = gradient}));
}

}  // namespace plimsoll::ops
