#pragma once

#include <functional>
#include <string>

#include "engine/run_file/run_config.h"
#include "models/model.h"

namespace plimsoll::engine {

/// Special tokens that masked training needs beside the tokenizer's: [CLS], [SEP], [MASK]; the last ids.
constexpr int64_t kMaskedSpecialTokens = 3;

/// The model that a run file names, as functions that build it in the shapes that a program needs.
struct ModelChoice {
  std::string name;
  uint64_t hash = 0;  ///< of every setting that changes what its tensors mean
  int64_t vocab_size = 0;
  int64_t context = 0;     ///< the longest sequence
  bool is_masked = false;  ///< learns masked tokens (BERT) instead of the next one

  /// The ids that text may have are below this; those from here on are special.
  int64_t text_vocab() const { return vocab_size - (is_masked ? kMaskedSpecialTokens : 0); }

  std::function<Result<models::Model>(int64_t batch, int64_t seq)> training;
  std::function<Result<models::Model>(int64_t batch, int64_t seq)> evaluation;
  /// One step of generation of `tokens` tokens; empty where the model cannot generate.
  std::function<Result<models::Model>(int64_t batch, int64_t tokens, int64_t context)> decoder;
};

/// Requires: `ops` outlives the choice. `tokenizer_vocab` is 0 where there is no tokenizer.
///
/// Errors: invalid_argument for an unknown name (with the nearest), sizes that do not fit, a vocabulary smaller than
/// the tokenizer's.
Result<ModelChoice> choose_model(const RunConfig& config, int64_t tokenizer_vocab, const ops::OpTable& ops);

}  // namespace plimsoll::engine
