#pragma once

#include <cmath>

#include "ops/elementwise/binary.h"

namespace plimsoll::ops {

/// The larger or smaller of two numbers; NaN where either is.
inline double larger_or_nan(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double smaller_or_nan(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// The gradient of the larger or smaller of two inputs goes to whichever was taken: to a where a `direction` b holds.
inline void pass_to_taken(GradientContext& c, const char* direction) {
  if (!c.wants(0) && !c.wants(1)) return;
  const auto takes_a = c.add("compare", {c.src(0), c.src(1)}, {{"direction", std::string(direction)}});
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

}  // namespace plimsoll::ops
