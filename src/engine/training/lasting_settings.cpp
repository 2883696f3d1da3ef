#include "engine/training/lasting_settings.h"

#include <fmt/format.h>

#include "engine/run_file/tokenizer_choice.h"

namespace plimsoll::engine {

std::map<std::string, std::string> lasting_settings(const RunConfig& c) {
  return {{"data.kind", c.data.kind},
          {"data.train", fmt::format("{}", fmt::join(c.data.train, " "))},
          {"data.valid", fmt::format("{}", fmt::join(c.data.valid, " "))},
          {"data.validation_fraction", fmt::format("{}", c.data.validation_fraction)},
          {"data.separator", c.data.separator},
          {"data.tokenizer", c.data.tokenizer},
          {"data.vocab_size", trains_tokenizer(c) ? std::to_string(c.data.vocab_size) : ""},
          {"data.seq_len", std::to_string(c.data.seq_len)},
          {"model.dropout", fmt::format("{}", c.model.dropout)},
          {"optimizer.name", c.optimizer.name},
          {"optimizer.amsgrad", c.optimizer.amsgrad ? "true" : "false"},
          {"optimizer.momentum", c.optimizer.momentum > 0 ? "used" : "0"},
          {"train.batch_size * train.accumulate", std::to_string(c.train.batch_size * c.train.accumulate)},
          {"train.seed", std::to_string(c.train.seed)}};
}

}  // namespace plimsoll::engine
