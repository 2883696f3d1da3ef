#pragma once

#include <optional>
#include <string>

#include "data/sentencepiece_training.h"
#include "engine/checkpoint/same_run.h"
#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// Whether a run trains its own tokenizer, on its text.
bool trains_tokenizer(const RunConfig& config);

/// How it is trained, where it is.
data::SentencepieceOptions tokenizer_training_options(const RunConfig& config);

/// Where the tokenizer of a run lies; nothing where it has no file ("bytes", "none").
std::optional<std::string> tokenizer_file(const RunConfig& config, const std::string& run_folder);

/// A tokenizer's file as something that a run must find again. Errors: io.
Result<DataFile> try_sum_tokenizer(const std::string& path, DataFile::Origin origin);

}  // namespace plimsoll::engine
