#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/shape.h"

namespace plimsoll::ops {

/// Elements to where each batch of dst begins in an operand whose own batches broadcast to dst's.
///
/// Shapes: both with two axes of a matrix behind those of the batches. Example: dst [2,3,m,n] and operand [3,k,n]:
/// 0, kn, 2kn, 0, kn, 2kn.
std::vector<int64_t> batch_offsets(const Shape& dst, const Shape& operand);

/// f32 elements that a kernel may copy of both operands of a product of depth `k` for one task, at the most: panels of
/// 208 rows each, and no more than fit beside each other in a second-level cache.
constexpr int64_t matmul_panel_numel(int64_t k) { return std::min<int64_t>(104 * 1024, 2 * 208 * (k + 16)); }

}  // namespace plimsoll::ops
