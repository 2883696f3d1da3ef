#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "data/text.h"

namespace plimsoll::data {

/// How a sentencepiece model is trained.
struct SentencepieceOptions {
  int32_t vocab_size = 2048;     ///< pieces wanted, the 256 bytes among them; a small text gives fewer
  int64_t text_bytes = 2 << 20;  ///< of the text, evenly spread, that the trainer sees
};

/// Trains a byte-pair sentencepiece model that keeps every text as it is; returns it serialized.
///
/// Line ends and the indents that often follow them are pieces of their own; rare characters fall back to bytes. Byte
/// pairs take a tenth of the unigram trainer's time and cut a manual page into fewer tokens.
/// Errors: invalid_argument, for a vocabulary that is too small or a text that is empty; those of TextReader.
/// Lines whose words would make the different words longer than 512 KiB together are left out, which bounds time and
/// memory: English reaches half of that, text without spaces is cut to about that.
/// Memory: sentencepiece_training_bytes, freed at the end. Order: the same text gives the same model.
/// Source: Sennrich et al., "Neural machine translation of rare words with subword units", ACL 2016.
Result<std::string> try_train_sentencepiece(const TextPart& text, const SentencepieceOptions& options);

/// Bytes of model file a piece that is trained so, beyond the longest measured: 17, of English.
inline constexpr int64_t kTrainedPieceFileBytes = 32;

/// The most RAM that training takes, whatever the text.
int64_t sentencepiece_training_bytes(const SentencepieceOptions& options);

}  // namespace plimsoll::data
