// maximum: the larger of two tensors that broadcast.
#include <algorithm>

#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

/// To whichever was taken; to a where both are equal.
void gradient(GradientContext& c) {
  if (!c.wants(0) && !c.wants(1)) return;
  const auto takes_a = c.add("compare", {c.src(0), c.src(1)}, {{"direction", "ge"}});
  const auto zero = c.constant(0, c.dst_desc(0).dtype);
  set_binary_gradients(
      c,
      [&] {
        return c.add("where", {takes_a, c.d_dst(0), zero});
      },
      [&] {
        return c.add("where", {takes_a, zero, c.d_dst(0)});
      });
}

}  // namespace

void define_maximum(OpTable& table) {
  table.add(make_binary({.name = "maximum",
                         .doc = "dst = the larger of a and b; extents broadcast",
                         .function = [](double a, double b) { return std::max(a, b); },
                         .gradient = gradient}));
}

}  // namespace plimsoll::ops
