#include "backends/reference/elements.h"

#include <bit>
#include <cmath>
#include <limits>

namespace plimsoll::backends::reference {
namespace {

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double magnitude = 0;
  if (exponent == 31)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, -24);
  else
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}

/// Rounded once, to the nearest, ties to even, to a type of 16 bits with `fraction_bits` below the leading one.
uint16_t to_16_bits(double value, int fraction_bits, int bias) {
  const int infinity = (2 * bias + 1) << fraction_bits;
  if (std::isnan(value)) return static_cast<uint16_t>(infinity | 1 << (fraction_bits - 1));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (magnitude >= std::ldexp(1, bias + 1)) return static_cast<uint16_t>(sign | infinity);
  // Below the least normal number steps stay the same; a carry runs into the exponent, and at the end into infinity.
  const bool is_normal = magnitude >= std::ldexp(1, 1 - bias);
  const int exponent = is_normal ? std::ilogb(magnitude) : 1 - bias;
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  return static_cast<uint16_t>(sign | (((is_normal ? exponent + bias - 1 : 0) << fraction_bits) + steps));
}

uint16_t to_bf16(double value) { return to_16_bits(value, 7, 127); }
uint16_t to_f16(double value) { return to_16_bits(value, 10, 15); }

template <class T, class Convert>
void read_all(const void* data, ops::Array& out, Convert convert) {
  for (int64_t i = 0; i < out.numel(); ++i) out[i] = static_cast<double>(convert(static_cast<const T*>(data)[i]));
}

template <class T, class Convert>
void write_all(const ops::Array& array, void* data, Convert convert) {
  for (int64_t i = 0; i < array.numel(); ++i) static_cast<T*>(data)[i] = static_cast<T>(convert(array[i]));
}

constexpr auto kSame = [](auto value) { return value; };

/// A conversion from a float outside T's range is undefined, so values are brought into it first.
template <class T>
T to_whole(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace

ops::Array to_array(const TensorDesc& desc, const void* data) {
  PLIMSOLL_CHECK(desc.layout.is_plain(), to_string(desc));
  ops::Array out(desc);
  switch (desc.dtype) {
    case DType::kF32: read_all<float>(data, out, kSame); break;
    case DType::kBF16: read_all<uint16_t>(data, out, from_bf16); break;
    case DType::kF16: read_all<uint16_t>(data, out, from_f16); break;
    case DType::kF64: read_all<double>(data, out, kSame); break;
    case DType::kI8: read_all<int8_t>(data, out, kSame); break;
    case DType::kU8: read_all<uint8_t>(data, out, kSame); break;
    case DType::kU16: read_all<uint16_t>(data, out, kSame); break;
    case DType::kI32: read_all<int32_t>(data, out, kSame); break;
    case DType::kU32: read_all<uint32_t>(data, out, kSame); break;
    case DType::kI64: read_all<int64_t>(data, out, kSame); break;
    case DType::kBool: read_all<uint8_t>(data, out, kSame); break;
  }
  return out;
}

void write_array(const ops::Array& array, void* data) {
  PLIMSOLL_CHECK(array.desc.layout.is_plain(), to_string(array.desc));
  switch (array.desc.dtype) {
    case DType::kF32: write_all<float>(array, data, kSame); break;
    case DType::kBF16: write_all<uint16_t>(array, data, to_bf16); break;
    case DType::kF16: write_all<uint16_t>(array, data, to_f16); break;
    case DType::kF64: write_all<double>(array, data, kSame); break;
    case DType::kI8: write_all<int8_t>(array, data, to_whole<int8_t>); break;
    case DType::kU8: write_all<uint8_t>(array, data, to_whole<uint8_t>); break;
    case DType::kU16: write_all<uint16_t>(array, data, to_whole<uint16_t>); break;
    case DType::kI32: write_all<int32_t>(array, data, to_whole<int32_t>); break;
    case DType::kU32: write_all<uint32_t>(array, data, to_whole<uint32_t>); break;
    case DType::kI64: write_all<int64_t>(array, data, to_whole<int64_t>); break;
    case DType::kBool: write_all<uint8_t>(array, data, [](double value) { return value != 0 ? 1 : 0; }); break;
  }
}

}  // namespace plimsoll::backends::reference
