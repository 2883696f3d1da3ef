// add: the sum of two tensors that broadcast.
#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

void gradient(GradientContext& c) {
  set_binary_gradients(
      c, [&] { return c.d_dst(0); }, [&] { return c.d_dst(0); });
}

}  // namespace

void define_add(OpTable& table) {
  table.add(make_binary({.name = "add",
                         .doc = "dst = a + b; extents broadcast",
                         .function = [](double a, double b) { return a + b; },
                         .gradient = gradient}));
}

}  // namespace plimsoll::ops
