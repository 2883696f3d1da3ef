#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

/// FNV-1a, 64 bit: a stable hash of a name or file, the same on every machine and in every build.
constexpr uint64_t stable_hash(std::string_view bytes, uint64_t seed = 0xcbf29ce484222325ULL) {
  uint64_t hash = seed;
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace plimsoll
