// erf: the error function.
#include <cmath>
#include <numbers>

#include "ops/elementwise/unary.h"

namespace plimsoll::ops {
namespace {

/// d · 2/√π · e^(-src²).
void gradient(GradientContext& c) {
  const auto bell = c.add("exp", {c.add("neg", {c.add("multiply", {c.src(0), c.src(0)})})});
  const auto slope = c.add("multiply", {bell, c.constant(2 * std::numbers::inv_sqrtpi, c.src_desc(0).dtype)});
  c.set_d_src(0, c.add("multiply", {c.d_dst(0), slope}));
}

}  // namespace

void define_erf(OpTable& table) {
  table.add(make_unary({.name = "erf",
                        .doc = "dst = 2/√π · the integral of e^(-t²) from 0 to src",
                        .function = [](double x) { return std::erf(x); },
                        .gradient = gradient}));
}

}  // namespace plimsoll::ops
