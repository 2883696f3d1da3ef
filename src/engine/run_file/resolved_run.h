#pragma once

#include "engine/run_file/data_needs.h"
#include "engine/run_file/model_choice.h"
#include "engine/run_file/run_config.h"

namespace plimsoll::engine {

/// A run file of which nothing is left open: what it says, and what that stands for.
struct ResolvedRun {
  RunConfig config;  ///< with the vocabulary and sequence length that it trains with
  DataNeeds needs;
  ModelChoice model;
};

/// Requires: `ops` outlives the run. Reads nothing but a tokenizer that is there already.
///
/// Errors: those of try_find_data_needs and choose_model; invalid_argument and unsupported for settings that do not go
/// together.
Result<ResolvedRun> try_resolve(RunConfig config, const ops::OpTable& ops);

}  // namespace plimsoll::engine
