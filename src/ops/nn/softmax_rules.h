#pragma once

#include <functional>
#include <string>

#include "ops/op_table.h"

namespace plimsoll::ops {

/// Elements of one line along the axis; results go to `dst`, which has as many.
using LineFunction = std::function<void(std::span<const std::vector<double>> srcs, std::vector<double>& dst)>;

/// What tells softmax and log_softmax apart.
struct SoftmaxVariant {
  std::string name;
  std::string doc;
  std::string grad_doc;
  LineFunction forward;   ///< srcs: x
  LineFunction backward;  ///< srcs: y, d_y
  double low_y = 0;       ///< range of the gradient's sample y
  double high_y = 1;
};

/// Adds the op and its gradient op `<name>_grad`.
void define_softmax_variant(OpTable& table, const SoftmaxVariant& variant);

}  // namespace plimsoll::ops
