#pragma once

#include "ops/gradient.h"
#include "ops/op_table.h"

namespace plimsoll::ops {

/// What sets one op of two floating inputs, applied element by element, apart from all others.
struct BinaryRule {
  std::string name;
  std::string doc;
  double (*function)(double a, double b);
  std::function<void(GradientContext& context)> gradient = {};
  double low_a = -2;  ///< ranges of sample data
  double high_a = 2;
  double low_b = -2;
  double high_b = 2;
};

/// The whole op: inputs of one type that broadcast, in place of `a` where it has the output's shape, every axis in
/// chunks.
OpDef make_binary(const BinaryRule& rule);

/// Sample shapes of binary ops: equal ones of the sizes 1, 7, 17 and 1025, every way to broadcast, and empty ones.
std::vector<std::pair<Shape, Shape>> binary_shapes();

/// Gradients of an op of two inputs where `d_a` and `d_b` have the output's shape: each is asked for only where it is
/// wanted, and summed over the axes along which its input was repeated.
void set_binary_gradients(GradientContext& context, const std::function<graph::ValueId()>& d_a,
                          const std::function<graph::ValueId()>& d_b);

}  // namespace plimsoll::ops
