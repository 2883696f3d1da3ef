// pow: a power, element by element, of two tensors that broadcast.
#include <cmath>

#include "ops/elementwise/binary.h"

namespace plimsoll::ops {
namespace {

/// d · b · a^(b-1), where b = 0 must give 0 even for a = 0: the exponent is 1 there instead of -1.
graph::ValueId base_gradient(GradientContext& c) {
  const DType dtype = c.dst_desc(0).dtype;
  const auto one = c.constant(1, dtype);
  const auto is_zero = c.add("compare", {c.src(1), c.constant(0, dtype)}, {{"direction", "eq"}});
  const auto exponent = c.add("where", {is_zero, one, c.add("subtract", {c.src(1), one})});
  const auto slope = c.add("multiply", {c.src(1), c.add("pow", {c.src(0), exponent})});
  return c.add("multiply", {c.d_dst(0), slope});
}

/// d · dst · ln a, and 0 where a is not positive and no logarithm exists.
graph::ValueId exponent_gradient(GradientContext& c) {
  const auto zero = c.constant(0, c.dst_desc(0).dtype);
  const auto is_positive = c.add("compare", {c.src(0), zero}, {{"direction", "gt"}});
  const auto log = c.add("where", {is_positive, c.add("log", {c.src(0)}), zero});
  return c.add("multiply", {c.d_dst(0), c.add("multiply", {c.dst(0), log})});
}

void gradient(GradientContext& c) {
  set_binary_gradients(
      c, [&] { return base_gradient(c); }, [&] { return exponent_gradient(c); });
}

}  // namespace

void define_pow(OpTable& table) {
  table.add(make_binary({.name = "pow",
                         .doc = "dst = a^b; extents broadcast; NaN where a is negative and b no whole number",
                         .function = [](double a, double b) { return std::pow(a, b); },
                         .gradient = gradient,
                         .low_a = 0.5,
                         .high_a = 2}));
}

}  // namespace plimsoll::ops
