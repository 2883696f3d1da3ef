#pragma once

#include "graph/graph.h"
#include "ops/op_table.h"

namespace plimsoll::transform {

/// Makes a matmul_chain of each matmul and the elementwise nodes that follow it, at the place of the last: activation,
/// dropout and residual add behind a layer, the activation's gradient behind the gradient of the next layer. A product
/// that others of its phase read too is kept as a further output. Bits stay.
graph::Graph fuse_matmul_epilogue(const graph::Graph& graph, const ops::OpTable& ops);

/// Makes one matmul_bias_grad of a weight's gradient xᵀ · d_y and a bias's, the sum over the rows of the same d_y. The
/// sum adds up in another order than reduce_sum's.
graph::Graph fuse_bias_gradient(const graph::Graph& graph, const ops::OpTable& ops);

}  // namespace plimsoll::transform
