#include "data/permutation.h"

#include <algorithm>
#include <bit>

#include "core/check.h"
#include "core/hash.h"
#include "core/philox.h"

namespace plimsoll::data {

Permutation::Permutation(int64_t size, uint64_t seed, uint64_t epoch) : size_(size) {
  PLIMSOLL_CHECK(size > 0, size);
  half_bits_ = (std::max(static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1))), 2) + 1) / 2;
  // A purpose of its own keeps the order apart from whatever else is drawn from the same seed.
  const Philox draw(seed ^ stable_hash("sample order"));
  for (size_t round = 0; round < keys_.size(); ++round) {
    const auto words = draw(epoch, round);
    keys_[round] = uint64_t{words[0]} << 32 | words[1];
  }
}

int64_t Permutation::operator()(int64_t position) const {
  PLIMSOLL_CHECK(position >= 0 && position < size_, position, " of ", size_);
  auto value = static_cast<uint64_t>(position);
  do {
    value = permute_bits(value);
  } while (value >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(value);
}

uint64_t Permutation::permute_bits(uint64_t value) const {
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_;
  uint64_t right = value & mask;
  for (uint64_t key : keys_) {
    const uint64_t mixed = left ^ (Philox(key)(right, 0)[0] & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace plimsoll::data
