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
};

/// Resolves and plans a run. Reads nothing but a tokenizer that is there already.
///
/// `goes_on`: the run is resumed, so that only what a resume may change can help.
/// Errors: infeasible, with what would help; invalid_argument for settings that do not go together.
Result<RunPlan> plan_run(RunConfig config, Environment& environment, bool goes_on = false);

}  // namespace plimsoll::engine
