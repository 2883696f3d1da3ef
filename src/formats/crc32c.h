#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plimsoll::formats {

/// The CRC-32C (Castagnoli) of `bytes`; 0xE3069283 for "123456789". Finds every burst of up to 32 wrong bits.
///
/// `before` is the checksum of the bytes that precede these, so that a stream can be summed in pieces of any size.
/// Cost: 8 bytes a round by tables.
/// Source: polynomial of Castagnoli et al., IEEE Trans. Communications 41(6), 1993; RFC 3720, appendix B.4.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace plimsoll::formats
