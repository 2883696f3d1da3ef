#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// A byte model of order 3, each byte predicted from the three before it: the baseline that a trained model must beat.
///
/// Witten-Bell: a context h seen n times with t different bytes behind it gives
///   P(b | h) = (count(h b) + t · P(b | h without its first byte)) / (n + t),
/// down to the empty context, below which all 256 bytes are equally likely. So every byte has a probability above zero.
/// Memory: 24 bytes a context or string of up to four bytes that occurs, in a table at most two thirds full.
/// Source: Witten and Bell, "The zero-frequency problem", 1991, method C.
class ByteNgram {
 public:
  static constexpr int kOrder = 3;

  ByteNgram();

  /// Counts the bytes of `text`; further calls go on with the same text.
  void train(std::string_view text);

  /// P(next | the last kOrder bytes of `context`, or all of it where it is shorter); sums to one over `next`.
  double probability(std::string_view context, unsigned char next) const;

  int64_t memory_bytes() const { return static_cast<int64_t>(slots_.size() * sizeof(Slot)); }

 private:
  struct Slot {
    uint64_t key = 0;       // the bytes and their number; 0: free
    uint32_t count = 0;     // how often they occur behind their context
    uint32_t total = 0;     // as a context: bytes seen behind it
    uint32_t distinct = 0;  // as a context: different ones
  };

  static uint64_t to_key(std::string_view bytes);
  size_t find(uint64_t key) const;
  Slot& insert(uint64_t key);
  void count_byte(std::string_view context, unsigned char next);

  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::string tail_;  // the last kOrder bytes trained on
};

/// A model trained on all of a text. Errors: those of TextReader.
Result<ByteNgram> try_train_byte_ngram(const TextPart& text);

/// The model's loss on a text, in bits per byte. Errors: those of TextReader; invalid_argument, where there is no text.
Result<double> try_bits_per_byte(const ByteNgram& model, const TextPart& text);

}  // namespace plimsoll::data
