#include "formats/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace plimsoll::formats {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;  // bits reversed: the lowest bit is the first one sent

// Row k: what a byte does to the checksum when k more bytes follow it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFF];
    }
  return tables;
}();

}  // namespace

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (std::byte byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint32_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace plimsoll::formats
