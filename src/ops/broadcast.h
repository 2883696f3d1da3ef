#pragma once

#include <array>

#include "ops/op_def.h"

namespace plimsoll::ops {

/// Finds, for each element of a broadcast result, the element of one operand that it is made from.
class BroadcastIndex {
 public:
  /// Requires: `operand` broadcasts to `result`.
  BroadcastIndex(const Shape& operand, const Shape& result);

  /// The operand's element for the result's element `element`; both row-major.
  int64_t operator()(int64_t element) const {
    if (is_identity_) return element;
    int64_t out = 0;
    for (int axis = result_.rank() - 1; axis >= 0; --axis) {
      out += element % result_[axis] * strides_[static_cast<size_t>(axis)];
      element /= result_[axis];
    }
    return out;
  }

 private:
  Shape result_;
  bool is_identity_;
  std::array<int64_t, Shape::kMaxRank> strides_{};  // 0 along axes that are repeated
};

/// The shape that all inputs broadcast to. Errors: which inputs do not; `op` and `names` are for the message.
Result<Shape> try_broadcast_all(const std::string& op, std::span<const std::string> names,
                                std::span<const TensorDesc> srcs);

/// Every axis of output 0: inputs that are repeated along it are needed whole.
std::vector<ChunkableAxis> broadcast_chunks(const OpCall& call);

/// `flops_per_element` for every element of output 0, and all inputs and outputs once.
Cost elementwise_cost(const OpCall& call, int64_t flops_per_element);

/// That output 0 may overwrite input `src`, where both have the same elements.
std::vector<Alias> in_place_alias(const OpCall& call, int src);

}  // namespace plimsoll::ops
