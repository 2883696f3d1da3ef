#include "memory/poison.h"

#include <algorithm>
#include <cstring>

namespace plimsoll::memory {
namespace {

constexpr size_t kBlock = 4096;

/// Bytes equal to the one before them, with the first equal to the pattern, are all the pattern: memcmp does it at
/// memory speed.
bool is_all(std::span<const std::byte> bytes, std::byte pattern) {
  if (bytes.empty()) return true;
  return bytes[0] == pattern && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

void fill(std::span<std::byte> bytes, std::byte pattern) {
  if (!bytes.empty()) std::memset(bytes.data(), std::to_integer<int>(pattern), bytes.size());
}

std::optional<int64_t> find_touched(std::span<const std::byte> bytes, std::byte pattern) {
  for (size_t start = 0; start < bytes.size(); start += kBlock) {
    const auto block = bytes.subspan(start, std::min(kBlock, bytes.size() - start));
    if (is_all(block, pattern)) continue;
    const auto found = std::find_if(block.begin(), block.end(), [&](std::byte byte) { return byte != pattern; });
    return static_cast<int64_t>(start) + (found - block.begin());
  }
  return std::nullopt;
}

int64_t touched_extent(std::span<const std::byte> bytes, std::byte pattern) {
  size_t end = bytes.size();
  while (end > 0) {
    const size_t start = (end - 1) / kBlock * kBlock;
    if (!is_all(bytes.subspan(start, end - start), pattern)) break;
    end = start;
  }
  while (end > 0 && bytes[end - 1] == pattern) --end;
  return static_cast<int64_t>(end);
}

}  // namespace plimsoll::memory
