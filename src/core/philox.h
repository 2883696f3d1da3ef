#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace plimsoll {

/// Philox-4x32-10: four random 32-bit words as a pure function of a 64-bit key and a 128-bit counter.
///
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  constexpr explicit Philox(uint64_t key) : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}

  /// The four words of counter (low, high).
  constexpr Block operator()(uint64_t low, uint64_t high) const {
    Block x{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
            static_cast<uint32_t>(high >> 32)};
    uint32_t k0 = key_[0];
    uint32_t k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{kMultiplier0} * x[0];
      const uint64_t p1 = uint64_t{kMultiplier1} * x[2];
      x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += kWeyl0;
      k1 += kWeyl1;
    }
    return x;
  }

  static constexpr uint32_t kMultiplier0 = 0xD2511F53;
  static constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
  static constexpr uint32_t kWeyl0 = 0x9E3779B9;
  static constexpr uint32_t kWeyl1 = 0xBB67AE85;

 private:
  std::array<uint32_t, 2> key_;
};

/// A word as a float in [0, 1) with 24 bits.
constexpr float to_unit_float(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// Two words as two independent standard normal numbers (Box and Muller, 1958).
inline std::array<float, 2> to_normals(uint32_t a, uint32_t b) {
  const double u = (static_cast<double>(a) + 1.0) * 0x1p-32;  // in (0, 1], so that log is finite
  const double angle = 2 * std::numbers::pi * static_cast<double>(b) * 0x1p-32;
  const double radius = std::sqrt(-2 * std::log(u));
  return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
}

}  // namespace plimsoll
