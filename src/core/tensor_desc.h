#pragma once

#include <optional>
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

/// Bytes of storage, or nothing where shape or layout make no sense or the number overflows int64.
std::optional<int64_t> try_size_bytes(const TensorDesc& desc);

/// "f32[8,128]"; a layout that is not plain follows after '@'.
std::string to_string(const TensorDesc& desc);

}  // namespace plimsoll
