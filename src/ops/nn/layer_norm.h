#pragma once

#include <cstdint>

namespace plimsoll::ops {

/// Blocks of rows that may each sum d_weight and d_bias on their own: few, since each has room for both.
inline constexpr int64_t kMostLayerNormBlocks = 16;

}  // namespace plimsoll::ops
