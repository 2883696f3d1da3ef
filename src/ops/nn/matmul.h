#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/shape.h"
#include "ops/chain.h"

namespace plimsoll::ops {

/// Elements to where each batch of dst begins in an operand whose own batches broadcast to dst's.
///
/// Shapes: both with two axes of a matrix behind those of the batches. Example: dst [2,3,m,n] and operand [3,k,n]:
/// 0, kn, 2kn, 0, kn, 2kn.
std::vector<int64_t> batch_offsets(const Shape& dst, const Shape& operand);

/// The rules of matmul, for ops that are a product and more.
const OpDef& matmul_def();

/// How many of a matmul_chain's sources are the product's: a, b, and the bias where there is one.
size_t matmul_chain_operands(size_t srcs, const Chain& chain);

/// f32 elements of packed panels that a kernel may keep of both operands of a product of depth `k` for one task, at the
/// most: no more than fit beside each other in a second-level cache of 512 KiB.
constexpr int64_t matmul_panel_numel(int64_t k) { return std::min<int64_t>(384, k + 4) * 304 + 16; }

}  // namespace plimsoll::ops
