#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace plimsoll::memory {

/// Fills bytes that hold nothing: as f32, f64, bf16 or f16 it reads as NaN, as an index it is out of every range.
inline constexpr std::byte kPoison{0xFF};

/// A second pattern: what is written may happen to end in bytes of one pattern (-100 in i32 ends in 0xFF), but a byte
/// that keeps both, one after the other, was not written.
inline constexpr std::byte kOtherPoison{0x5A};

/// Fills the borders around what a kernel may touch, so that a stray write shows.
inline constexpr std::byte kFence{0xA5};

/// Bytes of a fence on each side: four cache lines, more than a vector register or the rest of an unrolled loop spills
/// over.
inline constexpr int64_t kFenceBytes = 256;

void fill(std::span<std::byte> bytes, std::byte pattern);

/// The offset of the first byte that is not `pattern`, or nothing: how a touched fence or range is found.
std::optional<int64_t> find_touched(std::span<const std::byte> bytes, std::byte pattern);

/// The end of the last byte that is not `pattern`: how far into the bytes something was written. 0: nothing was.
int64_t touched_extent(std::span<const std::byte> bytes, std::byte pattern);

}  // namespace plimsoll::memory
