#pragma once

#include "engine/run_file/model_choice.h"
#include "engine/run_file/run_config.h"
#include "engine/session_plan.h"

namespace plimsoll::engine {

/// A run file with nothing left open, and its plan, before any data are read.
struct RunPlan {
  RunConfig config;  ///< with the vocabulary and sequence length that it trains with
  ModelChoice model;
  Bytes ram;  ///< budget of the whole process: the run file's, or what the machine can give
  SessionPlan session;
  /// Of the process while a text's byte model is counted; 0 where it is not, e.g. for want of room.
  int64_t counting_bytes = 0;
};

/// Resolves and plans a run. Reads nothing but a tokenizer that is there already.
///
/// Errors: infeasible, with what would help; invalid_argument for settings that do not go together.
Result<RunPlan> plan_run(RunConfig config, Environment& environment);

}  // namespace plimsoll::engine
