#pragma once

#include <optional>

#include "engine/run_file/run_config.h"
#include "engine/session_plan.h"

namespace plimsoll::engine {

/// A forward program that has the memory for itself, planned and proven: no gradients, no optimizer state.
struct InferencePlan {
  CompiledProgram program;
  MemoryNeed need;
};

/// Errors: infeasible where `ram` (bytes for the whole process) is set and too small.
Result<InferencePlan> plan_inference(const graph::Graph& graph, Environment& environment, std::optional<Bytes> ram,
                                     int64_t data_bytes);

/// The model of a run file: one step of generation with its caches for the longest text, or, for a model that cannot
/// generate, one batch forward. The budget is the run file's, or what the machine can give.
Result<InferencePlan> plan_inference(const RunConfig& config, Environment& environment);

}  // namespace plimsoll::engine
