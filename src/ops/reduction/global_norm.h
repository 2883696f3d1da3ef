#pragma once

namespace plimsoll::ops {

/// Added to the norm, so that the factor stays finite where all gradients are zero.
inline constexpr double kNormFloor = 1e-6;

}  // namespace plimsoll::ops
