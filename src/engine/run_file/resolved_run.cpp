#include "engine/run_file/resolved_run.h"

namespace plimsoll::engine {

Result<ResolvedRun> try_resolve(RunConfig config, const ops::OpTable& ops) {
  PLIMSOLL_ASSIGN(const DataNeeds needs, try_find_data_needs(config));
  PLIMSOLL_ASSIGN(ModelChoice model, choose_model(config, needs.tokenizer_vocab, ops));
  config.model.vocab_size = model.vocab_size;  // so that the run file kept with the run names the model it trained
  if (config.train.sample_tokens > 0 && !model.decoder)
    return unsupported(config.at("train", "sample_tokens") + " has no use: the model '" + model.name +
                       "' cannot generate");
  if (config.data.seq_len == 0) config.data.seq_len = model.context;
  if (config.data.seq_len > model.context)
    return invalid_argument(config.at("data", "seq_len") + " is " + std::to_string(config.data.seq_len) +
                            "; the model's block_size is " + std::to_string(model.context));
  return ResolvedRun{std::move(config), needs, std::move(model)};
}

}  // namespace plimsoll::engine
