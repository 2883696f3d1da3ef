#pragma once

#include <algorithm>
#include <array>

#include "ops/gradient.h"
#include "ops/op_table.h"
#include "ops/workspace.h"

namespace plimsoll::ops {

/// What sets one reduction over axes apart from all others.
struct ReduceRule {
  std::string name;
  std::string doc;
  double start = 0;                                   ///< of every result before the first element
  double (*combine)(double so_far, double x) = {};    ///< in the order of elements
  double (*finish)(double total, double count) = {};  ///< null: the total itself
  std::function<void(GradientContext& context)> gradient = {};
  bool takes_empty = true;  ///< whether the reduction of no elements is a number
  bool accumulates = false;
};

/// The whole op, with attributes axes=[] (all) and keep_dims=false; axes that stay can run in chunks.
OpDef make_reduce(const ReduceRule& rule);

/// f64 partial results that a kernel may keep for a reduction to `outputs` numbers of `numel` elements: one an output
/// and task, at the most. Only few outputs are worth more than one task each, so there is a limit to them all.
constexpr int64_t most_partial_results(int64_t numel, int64_t outputs) {
  return std::min({numel, kMostTasks * outputs, int64_t{1} << 19});
}

/// Which axes `attributes` names for an input of this rank. Requires: they are valid.
std::array<bool, Shape::kMaxRank> reduced_axes(const Attributes& attributes, int rank);

/// `shape` with 1 along every reduced axis.
Shape keep_dims_shape(const Shape& shape, const Attributes& attributes);

/// `value`, which has the shape of the reduction's output, reshaped so that it broadcasts against the input.
graph::ValueId with_kept_dims(GradientContext& context, graph::ValueId value);

}  // namespace plimsoll::ops
