#pragma once

#include <cstdint>
#include <optional>

namespace plimsoll {

/// a + b, or nothing where it overflows.
constexpr std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// `size` rounded up to a multiple of `alignment`, or nothing where it overflows. Requires: size >= 0, alignment > 0.
constexpr std::optional<int64_t> checked_align_up(int64_t size, int64_t alignment) {
  const int64_t rest = size % alignment;
  return rest == 0 ? size : checked_add(size, alignment - rest);
}

}  // namespace plimsoll
