#pragma once

#include "engine/environment/environment.h"
#include "engine/lower.h"
#include "plan/plan.h"

namespace plimsoll::engine {

/// A graph with everything decided and proven, before any memory is taken.
struct CompiledProgram {
  Lowered lowered;
  plan::Plan plan;
  std::vector<int> residence_of;  ///< by buffer of the program, the problem's first; -1 where it has none

  const program::Program& program() const { return plan.program; }
  /// Bytes at which a state lies in the arena.
  int64_t offset_of(const Place& state) const;
  /// The same of all, by name.
  std::map<std::string, int64_t> state_offsets() const;
  /// The prepared kernels that its calls name, by their number. Requires: `catalogue` is the one that it was compiled
  /// with.
  std::vector<const backends::Kernel*> kernels(const Catalogue& catalogue) const;
  /// What one call of each computes and moves, likewise.
  std::vector<ops::Cost> costs(const Catalogue& catalogue) const;
  /// Predicts the time of a step anew, with the catalogue's rates of now.
  void predict(const Catalogue& catalogue);
  /// Calls for which the backend had no kernel: "op: reason", each once.
  std::vector<std::string> fallbacks(const Catalogue& catalogue) const;
};

/// Lowers, plans and proves, within `planning.budget` where there is one.
///
/// The program's compile hash covers the graph (its text: ops, attributes, shapes, order and names), the kernels and
/// which of them the reference backend runs, the number of microbatches, and the kind and instruction set of the
/// processor. Not: the versions of libraries and of this program, nor the values of inputs and scalars.
/// Errors: infeasible from the planner; unsupported and invalid_argument from below.
Result<CompiledProgram> compile(const graph::Graph& graph, Environment& environment, const LowerOptions& lowering,
                                const plan::PlanOptions& planning);

/// The error of a check that no plan of ours may fail.
Error refute(const Error& error);

}  // namespace plimsoll::engine
