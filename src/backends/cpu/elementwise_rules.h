#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/attributes.h"

namespace plimsoll::backends::cpu {

enum class UnaryOp : uint8_t {
  kAbs,
  kClip,
  kCos,
  kErf,
  kExp,
  kGelu,
  kGeluTanh,
  kLog,
  kNeg,
  kReciprocal,
  kRelu,
  kRsqrt,
  kSigmoid,
  kSign,
  kSin,
  kSqrt,
  kTanh
};

/// An op, and the bounds of clip.
struct UnaryRule {
  UnaryOp op = {};
  float low = 0;
  float high = 0;
};

enum class BinaryOp : uint8_t { kAdd, kDivide, kMaximum, kMinimum, kMultiply, kPow, kSubtract };

/// Gradients of an op from what the forward pass left and d_y.
enum class GradientOp : uint8_t { kGelu, kGeluTanh, kRelu, kSigmoid, kTanh };

/// What the row functions compute for an op of that name with complete attributes; nothing where it is of another kind.
std::optional<UnaryRule> find_unary(std::string_view op, const Attributes& attributes);
std::optional<BinaryOp> find_binary(std::string_view op);
std::optional<GradientOp> find_gradient(std::string_view op, const Attributes& attributes);

/// The names of all ops of a kind.
std::vector<std::string_view> unary_names();
std::vector<std::string_view> binary_names();
std::vector<std::string_view> gradient_names();

}  // namespace plimsoll::backends::cpu
