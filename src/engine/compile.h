#pragma once

#include "engine/environment.h"
#include "engine/lower.h"
#include "plan/plan.h"

namespace plimsoll::engine {

/// A graph with everything decided and proven, before any memory is taken.
struct CompiledProgram {
  Lowered lowered;
  plan::Plan plan;
  std::vector<int> residence_of;  ///< by buffer of the program, the problem's first; -1 where it has none

  const program::Program& program() const { return plan.program; }
  /// Bytes at which the state of that name lies in the arena, by name.
  std::map<std::string, int64_t> state_offsets() const;
  std::vector<const backends::Kernel*> kernels(const Catalogue& catalogue) const;
  /// Calls for which the backend had no kernel: "op: reason", each once.
  std::vector<std::string> fallbacks(const Catalogue& catalogue) const;
};

/// Lowers, plans and checks. Errors: infeasible from the planner; unsupported and invalid_argument from below.
Result<CompiledProgram> compile(const graph::Graph& graph, Environment& environment, const LowerOptions& lowering,
                                const plan::PlanOptions& planning);

}  // namespace plimsoll::engine
