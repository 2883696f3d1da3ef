#include "engine/training/run_batches.h"

namespace plimsoll::engine {
namespace {

/// The special ids are the last of the vocabulary: [CLS], [SEP], [MASK].
data::MaskedOptions masked_options(const RunConfig& config, const ModelChoice& model, int64_t batch) {
  const auto special = static_cast<int32_t>(model.text_vocab());
  return {.batch = batch,
          .seq = config.data.seq_len,
          .seed = static_cast<uint64_t>(config.train.seed),
          .vocab_size = special,
          .cls_id = special,
          .sep_id = special + 1,
          .mask_id = special + 2};
}

}  // namespace

Result<RunBatches> make_run_batches(const RunConfig& config, const ModelChoice& model, const TextData& data) {
  const int64_t seq = config.data.seq_len, samples = config.train.batch_size * config.train.accumulate;
  RunBatches out;
  if (model.is_masked) {
    PLIMSOLL_ASSIGN(out.train, data::try_make_masked_batches(data.train, masked_options(config, model, samples)));
    if (!data.validation) return out;
    data::MaskedOptions options = masked_options(config, model, 1);
    options.is_evaluation = true;
    PLIMSOLL_ASSIGN(out.validation, data::try_make_masked_batches(data.validation, options));
    return out;
  }
  const auto seed = static_cast<uint64_t>(config.train.seed);
  PLIMSOLL_ASSIGN(out.train, data::try_make_causal_batches(data.train, {.batch = samples, .seq = seq, .seed = seed}));
  if (!data.validation) return out;
  PLIMSOLL_ASSIGN(out.validation, data::try_make_evaluation_batches(data.validation, seq));
  return out;
}

}  // namespace plimsoll::engine
