#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/function_ref.h"
#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// A byte model of order 3, each byte predicted from the three before it: the baseline that a trained model must beat.
///
/// Witten-Bell: a context h seen n times with t different bytes behind it gives
///   P(b | h) = (count(h b) + t · P(b | h without its first byte)) / (n + t),
/// down to the empty context, below which all 256 bytes are equally likely. So every byte has a probability above zero.
/// Once the table is full, strings not seen before are no longer counted, neither as contexts nor behind theirs, so the
/// probabilities still sum to one.
/// Memory: `table_bytes`, taken at once. A context or string of up to four bytes that occurs takes 32 bytes of it; a
/// third stays free. 7 MB of manual pages have 214,000 of them, the table of kTableBytes holds 699,000.
/// Source: Witten and Bell, "The zero-frequency problem", 1991, method C.
class ByteNgram {
 public:
  static constexpr int kOrder = 3;
  static constexpr int64_t kTableBytes = int64_t{32} << 20;

  /// Requires: at least 1 KiB; what is above a power of two is not used.
  explicit ByteNgram(int64_t table_bytes = kTableBytes);

  /// Counts the bytes of `text`; further calls go on with the same text.
  void train(std::string_view text);

  /// P(next | the last kOrder bytes of `context`, or all of it where it is shorter); sums to one over `next`.
  double probability(std::string_view context, unsigned char next) const;

 private:
  struct Slot {
    uint64_t key = 0;       // the bytes and their number; 0: free
    uint64_t count = 0;     // how often they occur behind their context
    uint64_t total = 0;     // as a context: bytes seen behind it
    uint64_t distinct = 0;  // as a context: different ones
  };

  size_t find(uint64_t key) const;
  Slot* try_insert(uint64_t key, size_t length);
  void count(std::string_view context, unsigned char next);

  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::string tail_;  // the last kOrder bytes trained on
};

/// Told the bytes done and the total; returns false to stop.
using ByteProgress = FunctionRef<bool(int64_t done, int64_t total)>;

/// A model trained on a text, or on 32 MiB evenly spread over a longer one. Errors: those of TextReader; cancelled.
Result<ByteNgram> try_train_byte_ngram(const TextPart& text, ByteProgress progress);

/// The model's loss in bits per byte on a text, or on 8 MiB evenly spread over a longer one.
///
/// Errors: those of TextReader; invalid_argument, where there is no text; cancelled.
Result<double> try_bits_per_byte(const ByteNgram& model, const TextPart& text, ByteProgress progress);

}  // namespace plimsoll::data
