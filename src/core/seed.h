#pragma once

#include <cstdint>

namespace plimsoll {

/// Seeds that users give are 0 to this, 2^53: programs hand them on as numbers that the f64 reference holds exactly.
inline constexpr int64_t kLargestSeed = int64_t{1} << 53;

}  // namespace plimsoll
