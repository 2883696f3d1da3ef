#pragma once

#include <vector>

#include "ops/op_def.h"

namespace plimsoll::ops {

/// Uniform f32 numbers in [low, high).
inline SampleSrc f32_src(const Shape& shape, double low = -1, double high = 1) {
  return {.desc = {DType::kF32, shape, {}}, .low = low, .high = high};
}

/// Whole numbers in [low, high).
inline SampleSrc i32_src(const Shape& shape, double low, double high) {
  return {.desc = {DType::kI32, shape, {}}, .low = low, .high = high, .is_integer = true};
}

/// Exactly these elements.
inline SampleSrc exact_src(DType dtype, const Shape& shape, std::vector<double> values) {
  return {.desc = {dtype, shape, {}}, .values = std::move(values)};
}

/// A step scalar.
inline SampleSrc scalar_src(DType dtype, double number) { return exact_src(dtype, {}, {number}); }

}  // namespace plimsoll::ops
