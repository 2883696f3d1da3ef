#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace plimsoll::data {

/// Turns text into ids and back without loss: each id stands for fixed bytes, and their concatenation is the text.
///
/// So a loss per token is a loss per byte once the bytes are counted. Order: const calls from several threads are safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Ids are [0, vocab_size()).
  virtual int32_t vocab_size() const = 0;

  /// Appends the ids of `text`, any bytes, to `ids`.
  virtual void encode(std::string_view text, std::vector<int32_t>& ids) const = 0;

  /// The bytes that `id` stands for, valid as long as the tokenizer; empty for an id that stands for no text.
  /// Requires: the id is in the vocabulary.
  virtual std::string_view piece(int32_t id) const = 0;

  /// What try_load_tokenizer reads back from a file: a sentencepiece model; empty for the byte tokenizer.
  virtual std::string serialize() const = 0;

  /// The bytes of all pieces, in order: decode(encode(text)) == text. Bytes cut out of a character stay as they are.
  std::string decode(std::span<const int32_t> ids) const;

  /// The length of decode(ids).
  int64_t count_bytes(std::span<const int32_t> ids) const;
};

/// One id a byte: a vocabulary of 256.
std::unique_ptr<Tokenizer> make_byte_tokenizer();

/// A tokenizer by name: "bytes", or else the path of a sentencepiece model.
///
/// Errors: io; corrupt, for a damaged model; unsupported, for a model that does not keep every text as it is (one
/// without byte fallback, or whose normaliser changes characters or spaces).
Result<std::unique_ptr<Tokenizer>> try_load_tokenizer(const std::string& name_or_path);

/// The largest file that is taken for a sentencepiece model; the largest published ones have 5 MB.
inline constexpr int64_t kLargestModelBytes = int64_t{16} << 20;

/// What a sentencepiece tokenizer of so many pieces holds in RAM, and takes while it is loaded from a file of that
/// size.
int64_t sentencepiece_bytes(int64_t file_bytes, int64_t vocab_size);

/// The same from a serialized sentencepiece model; `name` is for messages.
Result<std::unique_ptr<Tokenizer>> try_parse_sentencepiece(std::string_view model, const std::string& name);

}  // namespace plimsoll::data
