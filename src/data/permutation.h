#pragma once

#include <array>
#include <cstdint>

namespace plimsoll::data {

/// A random order of [0, size) that needs no memory: position -> index, a bijection that `seed` and `epoch` choose.
///
/// A Feistel network over the least even number of bits that holds `size`, walked until the value is inside the range:
/// since the network is a bijection, so is the walk, and since its range is less than four times `size`, the walk takes
/// under four steps on average. Example, size 5: the network permutes [0, 16); position 3 goes to 9, 9 to 14, 14 to 1,
/// so index 1 stands at position 3.
/// Source: Luby and Rackoff, "How to construct pseudorandom permutations", 1988; Black and Rogaway, "Ciphers with
/// arbitrary finite domains", 2002 (cycle walking).
class Permutation {
 public:
  /// Requires: size > 0.
  Permutation(int64_t size, uint64_t seed, uint64_t epoch);

  /// The index at `position`. Requires: 0 <= position < size.
  int64_t operator()(int64_t position) const;

  int64_t size() const { return size_; }

 private:
  static constexpr int kRounds = 6;  // four make a strong permutation; two more, since the halves may be short

  uint64_t permute_bits(uint64_t value) const;

  int64_t size_;
  int half_bits_;
  std::array<uint64_t, kRounds> keys_;
};

}  // namespace plimsoll::data
