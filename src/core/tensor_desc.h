#pragma once

#include <string>

#include "core/dtype.h"
#include "core/layout.h"
#include "core/shape.h"

namespace plimsoll {

/// What a tensor is, without its data: element type, extents, layout.
struct TensorDesc {
  DType dtype = DType::kF32;
  Shape shape;
  Layout layout;

  int64_t numel() const { return shape.numel(); }
  /// Bytes of storage, padding of blocked layouts included.
  int64_t size_bytes() const { return stored_numel(shape, layout) * plimsoll::size_bytes(dtype); }

  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

/// "f32[8,128]"; a layout that is not plain follows after '@'.
std::string to_string(const TensorDesc& desc);

}  // namespace plimsoll
