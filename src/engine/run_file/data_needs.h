#pragma once

#include <cstdint>

#include "core/result.h"
#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// What is known of a run's data before any of it is read: the vocabulary that the model must have, and how much RAM
/// the loader will take.
struct DataNeeds {
  int64_t tokenizer_vocab = 0;    ///< ids that the tokenizer may make; 0 where there is none
  int64_t loader_bytes = 0;       ///< while the run lasts
  int64_t preparation_bytes = 0;  ///< peak before the arena is taken, while text is turned into tokens
  int64_t baseline_bytes = 0;     ///< the same where a byte model is counted too; 0 where there is no text
};

/// Errors: io and corrupt for a tokenizer that cannot be loaded; infeasible for one whose file alone is more than the
/// budget can hold; a text is not opened.
Result<DataNeeds> try_find_data_needs(const RunConfig& config);

}  // namespace plimsoll::engine
