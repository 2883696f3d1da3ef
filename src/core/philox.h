#pragma once

#include <array>
#include <bit>
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

/// ln(n / 2^32) for n in 1..2^32, within 1e-10. By operations that IEEE 754 rounds correctly alone, so that it has the
/// same bits with every C library, in a third of the time that a library's takes.
inline double log_of_share(uint64_t n) {
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCDu;  // the bits of sqrt(1/2)
  // n = m · 2^exponent, m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1) / (m + 1)), as a series in the square.
  const auto bits = std::bit_cast<uint64_t>(static_cast<double>(n));
  const int64_t exponent = static_cast<int64_t>(bits - kRootOfHalf) >> 52;
  const auto m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (m - 1) / (m + 1), z = s * s;
  const double series =
      2 + z * (2.0 / 3 + z * (2.0 / 5 + z * (2.0 / 7 + z * (2.0 / 9 + z * (2.0 / 11 + z * (2.0 / 13))))));
  return static_cast<double>(exponent - 32) * std::numbers::ln2 + s * series;
}

/// Cosine and sine of 2 pi · word / 2^32, within 1e-10; likewise.
inline std::array<double, 2> circle_point(uint32_t word) {
  constexpr uint32_t kEighth = 0x20000000u;
  const uint32_t quarter = (word + kEighth) >> 30;  // the nearest; x is the angle from there, at most pi / 4 either way
  const auto rest = static_cast<int32_t>(word - (quarter << 30));
  const double x = static_cast<double>(rest) * (2 * std::numbers::pi * 0x1p-32), z = x * x;
  const double sine =
      x * (1 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800))))));
  const double cosine =
      1 + z * (-1.0 / 2 +
               z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600))))));
  const bool is_turned = quarter % 2 == 1;
  const double c = is_turned ? sine : cosine, s = is_turned ? cosine : sine;
  return {((quarter + 1) & 2) != 0 ? -c : c, (quarter & 2) != 0 ? -s : s};
}

/// Two words as two independent standard normal numbers (Box and Muller, 1958).
inline std::array<float, 2> to_normals(uint32_t a, uint32_t b) {
  const double radius = std::sqrt(-2 * log_of_share(uint64_t{a} + 1));  // of (0, 1], so that it is finite
  const auto [cosine, sine] = circle_point(b);
  return {static_cast<float>(radius * cosine), static_cast<float>(radius * sine)};
}

}  // namespace plimsoll
