#pragma once

#include <string_view>

#include "core/check.h"
#include "core/hash.h"
#include "core/philox.h"
#include "core/seed.h"

namespace plimsoll::ops {

/// An element is dropped where the upper 24 bits of its random word are below this: where the word as a unit float is
/// below p in f32. In whole numbers, so that every backend decides alike.
///
/// Requires: 0 <= p < 1.
constexpr uint32_t drop_below(double p) {
  const double exact = static_cast<double>(static_cast<float>(p)) * 0x1p24;
  const auto whole = static_cast<uint32_t>(exact);
  return whole < exact ? whole + 1 : whole;
}

/// Ten rounds of Philox for four elements are about this many operations an element.
inline constexpr int64_t kDropoutFlopsAnElement = 20;

/// Which elements dropout keeps: a function of (seed, path, step, index in the whole global batch), so that no mask is
/// stored and that backward, recomputation and any split into microbatches see the same one.
///
/// Requires: 0 <= seed <= kLargestSeed, so that no backend sees it rounded.
/// Element e is decided by word e % 4 of block e / 4, so a kernel makes one block for four elements.
class DropoutMask {
 public:
  constexpr DropoutMask(int64_t seed, std::string_view path, int64_t step, double p)
      : random_(static_cast<uint64_t>(seed) ^ stable_hash(path)),
        step_(static_cast<uint64_t>(step)),
        drop_below_(drop_below(p)) {
    PLIMSOLL_CHECK(seed >= 0 && seed <= kLargestSeed, seed);
  }

  /// The four random words of elements 4 · block … 4 · block + 3.
  constexpr Philox::Block words(uint64_t block) const { return random_(block, step_); }
  constexpr bool keeps_word(uint32_t word) const { return word >> 8 >= drop_below_; }
  constexpr bool keeps(uint64_t element) const { return keeps_word(words(element / 4)[element % 4]); }

 private:
  Philox random_;
  uint64_t step_;
  uint32_t drop_below_;
};

}  // namespace plimsoll::ops
