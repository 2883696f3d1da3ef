#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "engine/compile.h"
#include "engine/training_graph.h"

namespace plimsoll::engine {

/// What a session is to do, before it is planned. Models share parameters by name.
struct SessionSpec {
  models::Model training;
  std::optional<models::Model> evaluation{};  ///< forward only, e.g. without dropout
  std::optional<models::Model> decoder{};     ///< one step of generation with its caches
  optim::OptimizerConfig optimizer{};
  optim::UpdateOptions update{};
  int64_t microbatches = 1;  ///< `training` is one microbatch of so many in an update
  std::vector<std::string> fusions = transform::fusion_names();  ///< passes over the training graph that run
};

/// Every byte that the process will need, by what for, in the order of the ledger's categories.
struct MemoryNeed {
  int64_t arena_bytes = 0;
  int64_t page_table_bytes = 0;   ///< what the kernel charges for mapping the arena
  int64_t runtime_bytes = 0;      ///< program, libraries, kernels, plans: see runtime_bytes_of
  int64_t data_bytes = 0;         ///< loader, tokenizer
  int64_t preparation_bytes = 0;  ///< beside the runtime while data are prepared, before the arena is taken
  /// The same while a byte model is counted to compare with; 0 where none is, e.g. for want of room in the budget.
  int64_t comparison_bytes = 0;

  /// While the step runs.
  int64_t running_bytes() const { return arena_bytes + page_table_bytes + runtime_bytes + data_bytes; }
  /// The least budget: that of the phase which needs more.
  int64_t total_bytes() const { return std::max(running_bytes(), runtime_bytes + preparation_bytes); }
  /// The most that the process takes with what is not needed but has room.
  int64_t planned_bytes() const { return std::max(total_bytes(), runtime_bytes + comparison_bytes); }
};

/// All programs of a session, planned and proven, before any memory is taken.
struct SessionPlan {
  SessionSpec spec;
  graph::Graph training_graph;
  std::vector<std::string> notes;  ///< of the training graph, for the user
  CompiledProgram train;
  std::optional<CompiledProgram> evaluate;
  std::optional<CompiledProgram> generate;
  MemoryNeed need;
};

/// The resident memory of a process beside arena and data: executable and libraries, stacks and library buffers of the
/// threads, prepared kernels, graphs, problems and plans, which grow with the instructions of its programs.
///
/// Measured: 17 MiB for an MLP of 3 layers, 0.13 MiB more a thread, 20 MiB for 12 layers of GPT-2,
/// 23 MiB for 24. The figure here is above that by half, for other libraries and processors.
int64_t runtime_bytes_of(int threads, int64_t instructions);

/// What a process needs that holds these programs at once, in one arena.
MemoryNeed need_of(std::span<const CompiledProgram* const> programs, Environment& environment, int64_t data_bytes);

/// Errors: infeasible where `ram` is set and less than `need`, with the tightest step and the holders of `plan`, or the
/// preparation of the data where that needs more.
Status check_need(const MemoryNeed& need, const plan::Plan& plan, std::optional<Bytes> ram);

/// Plans all programs into one state region and one step region.
///
/// `data_bytes` are held beside the arena; `preparation_bytes` before it is taken. Errors: infeasible where `ram`
/// (bytes for the whole process) is set and too small: needed, budget, tightest step and holders are those of the
/// training program.
Result<SessionPlan> plan_session(SessionSpec spec, Environment& environment, std::optional<Bytes> ram,
                                 int64_t data_bytes, int64_t preparation_bytes = 0);

}  // namespace plimsoll::engine
