#pragma once

#include "ops/gradient.h"
#include "ops/op_table.h"

namespace plimsoll::ops {

/// What sets one op of one floating input, applied to each element alone, apart from all others.
struct UnaryRule {
  std::string name;
  std::string doc;
  double (*function)(double x) = {};  ///< null: the caller sets OpDef::evaluate
  std::function<void(GradientContext& context)> gradient = {};
  int64_t flops_per_element = 1;  ///< arithmetic operations and elementary functions in the formula
  double low = -2;                ///< range of sample data
  double high = 2;
};

/// The whole op: same shape and type out as in, in place where nobody reads the input later, every axis in chunks.
OpDef make_unary(const UnaryRule& rule);

/// What sets the gradient of such an op apart: d_x from what the forward pass left, and d_y.
struct UnaryGradientRule {
  std::string name;
  std::string doc;
  std::string saved;                                  ///< "x" or "y": the first input
  double (*function)(double saved, double d_y) = {};  ///< null: the caller sets OpDef::evaluate
  int64_t flops_per_element = 1;
  double low = -2;  ///< range of the first input's sample data
  double high = 2;
};

/// The whole gradient op; d_x may overwrite d_y. It has no gradient of its own.
OpDef make_unary_gradient(UnaryGradientRule rule);

/// Sample shapes of elementwise ops: a scalar, the sizes 1, 7, 17, 1025, several axes, and empty ones.
std::vector<Shape> elementwise_shapes();

}  // namespace plimsoll::ops
