#pragma once

#include <string_view>

#include "core/hash.h"
#include "core/philox.h"

namespace plimsoll::ops {

/// Which elements dropout keeps: a function of (seed, path, step, index in the whole global batch), so that no mask is
/// stored and that backward, recomputation and any split into microbatches see the same one.
///
/// Element e is decided by word e % 4 of block e / 4, so a kernel makes one block for four elements.
class DropoutMask {
 public:
  constexpr DropoutMask(int64_t seed, std::string_view path, int64_t step, double p)
      : random_(static_cast<uint64_t>(seed) ^ stable_hash(path)),
        step_(static_cast<uint64_t>(step)),
        threshold_(static_cast<float>(p)) {}

  /// The four random words of elements 4 · block … 4 · block + 3.
  constexpr Philox::Block words(uint64_t block) const { return random_(block, step_); }
  /// Compared in f32, so that every backend decides alike.
  constexpr bool keeps_word(uint32_t word) const { return to_unit_float(word) >= threshold_; }
  constexpr bool keeps(uint64_t element) const { return keeps_word(words(element / 4)[element % 4]); }

 private:
  Philox random_;
  uint64_t step_;
  float threshold_;
};

}  // namespace plimsoll::ops
