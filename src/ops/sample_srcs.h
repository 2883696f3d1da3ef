#pragma once

#include <limits>
#include <vector>

#include "ops/op_def.h"

namespace plimsoll::ops {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

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

/// Above this, samples are for kernels alone: differences would repeat what a smaller one has shown.
inline constexpr int64_t kMaxGradientNumel = 128;

/// A case of one input, whose gradient is checked where it has one and is small enough.
inline Sample sample_of(SampleSrc src, Attributes attributes) {
  const bool has_gradient = is_floating(src.desc.dtype) && src.desc.numel() <= kMaxGradientNumel;
  return {.srcs = {std::move(src)}, .attributes = std::move(attributes), .has_gradient = has_gradient};
}

/// A step scalar.
inline SampleSrc scalar_src(DType dtype, double number) { return exact_src(dtype, {}, {number}); }

}  // namespace plimsoll::ops
