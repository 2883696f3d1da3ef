#pragma once

#include <optional>

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
};

/// Every byte that the process will need, by what for, in the order of the ledger's categories.
struct MemoryNeed {
  int64_t arena_bytes = 0;
  int64_t page_table_bytes = 0;  ///< what the kernel charges for mapping the arena
  int64_t runtime_bytes = 0;     ///< program, libraries, kernels, plans: measured, see kRuntimeBytes
  int64_t data_bytes = 0;        ///< loader, tokenizer

  int64_t total_bytes() const { return arena_bytes + page_table_bytes + runtime_bytes + data_bytes; }
};

/// All programs of a session, planned and proven, before any memory is taken.
struct SessionPlan {
  SessionSpec spec;
  graph::Graph training_graph;
  std::vector<std::string> unreached;  ///< trainable parameters that no gradient reaches
  CompiledProgram train;
  std::optional<CompiledProgram> evaluate;
  std::optional<CompiledProgram> generate;
  MemoryNeed need;
};

/// The resident memory of a process that trains, beside arena and data: executable and libraries, prepared kernels,
/// graphs and plans, thread stacks. Measured: 16 MiB for a small GPT-2, 21 MiB for bert-base, 45 MiB at the end of the
/// quickstart, which then also holds the byte model's table and the text that it is trained on.
constexpr int64_t kRuntimeBytes = int64_t{64} << 20;

/// What a process with an arena of so many bytes needs.
MemoryNeed need_of(int64_t arena_bytes, int64_t data_bytes);

/// Errors: infeasible where `ram` is set and less than `need`, with the tightest step and the holders of `plan`.
Status check_need(const MemoryNeed& need, const plan::Plan& plan, std::optional<Bytes> ram);

/// Plans all programs into one state region and one step region.
///
/// Errors: infeasible where `ram` (bytes for the whole process) is set and too small: needed, budget, tightest step and
/// holders are those of the training program.
Result<SessionPlan> plan_session(SessionSpec spec, Environment& environment, std::optional<Bytes> ram,
                                 int64_t data_bytes);

}  // namespace plimsoll::engine
