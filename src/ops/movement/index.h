#pragma once

#include <array>

#include "core/shape.h"

namespace plimsoll::ops {

/// One index an axis.
using Index = std::array<int64_t, Shape::kMaxRank>;

/// The index of row-major element `element` of a tensor of this shape.
inline Index to_index(const Shape& shape, int64_t element) {
  Index out{};
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    out[static_cast<size_t>(axis)] = element % shape[axis];
    element /= shape[axis];
  }
  return out;
}

/// The row-major element at `index`.
inline int64_t to_element(const Shape& shape, const Index& index) {
  int64_t out = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) out = out * shape[axis] + index[static_cast<size_t>(axis)];
  return out;
}

}  // namespace plimsoll::ops
