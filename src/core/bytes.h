#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace plimsoll {

/// A number of bytes, kept apart from counts and rates.
struct Bytes {
  int64_t value = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  constexpr Bytes& operator+=(Bytes other) {
    value += other.value;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {a.value + b.value}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.value - b.value}; }
};

constexpr Bytes kibibytes(int64_t n) { return {n << 10}; }
constexpr Bytes mebibytes(int64_t n) { return {n << 20}; }

/// Bytes a second.
struct BytesPerSecond {
  double value = 0;
  friend constexpr auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};

/// `size` rounded up to a multiple of `alignment`. Requires: alignment > 0, no overflow.
constexpr int64_t align_up(int64_t size, int64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

/// For people: "1.50 GiB", "23.4 MiB", "512 B".
std::string to_string(Bytes bytes);

/// Parses "2GiB", "2 GB", "2048M", "1.5g" or plain bytes. K, M, G, T alone are binary (1024), as is KiB …; KB … is
/// decimal.
///
/// Errors: invalid_argument that says what is allowed, also for negative, overflowing or non-finite sizes.
Result<Bytes> try_parse_bytes(std::string_view text);

}  // namespace plimsoll
