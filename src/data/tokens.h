#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/function_ref.h"
#include "core/result.h"
#include "data/text.h"
#include "data/tokenizer.h"
#include "formats/token_file.h"

namespace plimsoll::data {

/// A sequence of token ids that can be read at any position; every id is inside the vocabulary.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// Ids in the sequence.
  virtual int64_t size() const = 0;

  /// The ids [first, first + ids.size()). Requires: they exist. Errors: those of TokenFileReader::try_read.
  /// Order: one thread at a time. Memory: allocates nothing.
  virtual Status try_read(int64_t first, std::span<int32_t> ids) = 0;
};

/// What an open token file and the check of its ids hold in RAM at most, whatever its size: a buffer, and a buffer's
/// ids as i32.
inline constexpr int64_t kTokenFileBytes = 3 * formats::TokenFileReader::kBufferBytes;

/// A token file, open.
struct OpenTokens {
  std::unique_ptr<TokenSource> tokens;
  uint32_t checksum = 0;  ///< CRC-32C of the ids as they are stored
};

/// Opens a token file and checks that every id is below `vocab_size`.
///
/// Errors: as TokenFileReader::try_check_ids. Memory: kTokenFileBytes. Cost: reads the file once.
Result<OpenTokens> try_open_tokens(const formats::TokenFileInfo& info, int64_t vocab_size);

/// A sequence of ids cut in two: no id of it is in both.
struct TokenSplit {
  std::shared_ptr<TokenSource> train;       ///< the front
  std::shared_ptr<TokenSource> validation;  ///< the end; null where the fraction is 0
};

/// Sets the last ids apart, `validation_fraction` of them, rounded up to a whole one.
///
/// Errors: invalid_argument, for a fraction outside [0, 1) or that leaves either side empty. Memory: that of `tokens`,
/// which both sides read. Order: one thread at a time for both sides together.
Result<TokenSplit> try_split_tokens(std::shared_ptr<TokenSource> tokens, double validation_fraction);

/// What try_tokenize holds in RAM at most beside the tokenizer: below 64 KiB of text, at most four bytes an id, and a
/// copy of each line.
inline constexpr int64_t kTokenizingBytes = int64_t{1} << 20;

/// What try_tokenize wrote.
struct TokenizedText {
  int64_t tokens = 0;
  int64_t text_bytes = 0;  ///< separators put between files included
};

/// Turns text into a token file at `path`, with header, in the least dtype that the vocabulary needs.
///
/// `progress` is told the bytes done and the total, and returns false to stop.
/// Errors: those of TextReader; io; cancelled. Memory: kTokenizingBytes, whatever the text's size.
Result<TokenizedText> try_tokenize(const TextPart& text, const Tokenizer& tokenizer, const std::string& path,
                                   FunctionRef<bool(int64_t done, int64_t total)> progress);

/// The bytes of text that the ids [first, end) stand for. Requires: they exist. Errors: those of the source.
Result<int64_t> try_count_bytes(TokenSource& tokens, const Tokenizer& tokenizer, int64_t first, int64_t end);

}  // namespace plimsoll::data
