#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/tokens.h"

namespace plimsoll::data {

/// A target that the loss leaves out.
inline constexpr int32_t kIgnoreIndex = -100;

/// One array of a batch: i32 [samples, width], row-major.
struct BatchField {
  std::string name;
  int64_t width = 1;
  friend bool operator==(const BatchField&, const BatchField&) = default;
};

/// Samples in a fixed endless order, each a pure function of its number: nothing is drawn, so nothing need be restored.
///
/// A training run takes sample numbers 0, 1, 2, … in order; the one number of the next sample is all that a checkpoint
/// keeps, and any split into microbatches or ranks sees the same samples. Number / samples() is the epoch, the rest the
/// position in it. Order: one thread at a time.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual const std::vector<BatchField>& fields() const = 0;

  /// Samples in an epoch.
  virtual int64_t samples() const = 0;

  /// Targets that are not kIgnoreIndex in samples [first, first + count), without reading data.
  virtual int64_t count_valid(int64_t first, int64_t count) const = 0;

  /// Writes samples [first, first + count): arrays[i] is fields()[i], count * width elements.
  ///
  /// Requires: sizes as stated. Errors: those of TokenSource::try_read. Memory: allocates nothing.
  virtual Status try_fill(int64_t first, int64_t count, std::span<const std::span<int32_t>> arrays) = 0;
};

/// Where a run stands in its data, as reports show it.
struct Cursor {
  int64_t epoch = 0;
  int64_t position = 0;  ///< in the epoch's order
  friend bool operator==(const Cursor&, const Cursor&) = default;
};
inline Cursor to_cursor(int64_t sample, int64_t samples) { return {sample / samples, sample % samples}; }

/// Next-token batches for training: fields tokens [seq] and targets [seq], targets one position ahead.
struct CausalOptions {
  int64_t batch = 1;  ///< samples of one update, for the check that the data has as many
  int64_t seq = 1;
  uint64_t seed = 0;
};

/// Windows of `seq` tokens side by side, in an order that (seed, epoch) choose; every target is valid.
///
/// Errors: invalid_argument, when batch × seq + 1 is more than there are tokens, naming both.
Result<std::unique_ptr<BatchSource>> try_make_causal_batches(std::shared_ptr<TokenSource> tokens,
                                                             const CausalOptions& options);

/// Next-token batches for evaluation: windows of `seq` tokens from start to end, each target once and in order; fields
/// as in training.
///
/// What lies behind the end (the rest of the last window, and samples from samples() on, so that the last batch can be
/// full) has target kIgnoreIndex and token 0.
/// Errors: invalid_argument, for less than two tokens or seq < 1.
Result<std::unique_ptr<BatchSource>> try_make_evaluation_batches(std::shared_ptr<TokenSource> tokens, int64_t seq);

/// Batches for BERT's pre-training: masked tokens and whether the second sentence follows the first.
struct MaskedOptions {
  int64_t batch = 1;  ///< samples of one update, for the check that the data has as many
  int64_t seq = 8;
  uint64_t seed = 0;
  int32_t vocab_size = 0;  ///< random replacements are drawn from [0, vocab_size)
  int32_t cls_id = 0;
  int32_t sep_id = 0;
  int32_t mask_id = 0;
  double mask_share = 0.15;
  bool is_evaluation = false;  ///< windows in order instead of shuffled, once, then kIgnoreIndex
};

/// Fields tokens, segments, targets [seq] and next_sentence [1]; a sample is [CLS] A [SEP] B [SEP].
///
/// A and B are halves of a window of seq - 3 tokens; in half of the samples B comes from another window (next_sentence
/// 1, else 0). Each token of A and B is chosen with mask_share; of the chosen 80 % become mask_id, 10 % a random id, 10
/// % stay; targets hold the id that was there, and kIgnoreIndex where none was chosen. All of it is a function of
/// (seed, sample number, position), so each epoch masks anew. Errors: invalid_argument, for seq < 5, ids outside [0,
/// 2^31), a mask_share outside (0, 1], or too little data. Source: Devlin et al., "BERT", 2019, section 3.1.
Result<std::unique_ptr<BatchSource>> try_make_masked_batches(std::shared_ptr<TokenSource> tokens,
                                                             const MaskedOptions& options);

}  // namespace plimsoll::data
