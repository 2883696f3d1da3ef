#pragma once

#include <vector>

#include "core/tensor_desc.h"

namespace plimsoll::ops {

/// A tensor for reference evaluation: row-major logical elements of any dtype as f64, exact for whole numbers to 2^53.
struct Array {
  TensorDesc desc;
  std::vector<double> data;

  explicit Array(const TensorDesc& d = {}) : desc(d), data(static_cast<size_t>(d.numel())) {}
  Array(const TensorDesc& d, std::vector<double> values) : desc(d), data(std::move(values)) {}

  int64_t numel() const { return static_cast<int64_t>(data.size()); }
  double& operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
  double operator[](int64_t i) const { return data[static_cast<size_t>(i)]; }
};

}  // namespace plimsoll::ops
