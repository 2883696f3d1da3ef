#include "engine/session_plan.h"

#include <algorithm>

#include "hardware/anonymous_mapping.h"

namespace plimsoll::engine {
namespace {

/// A program that finds its parameters where training has put them, with its own memory in the step region.
Result<CompiledProgram> compile_beside(const models::Model& model, const CompiledProgram& train,
                                       Environment& environment) {
  LowerOptions lowering{.state_offsets = train.state_offsets(), .step_base_bytes = train.plan.state_bytes};
  lowering.state_category = [](const graph::Value&) { return Category::kCache; };
  return compile(model.graph, environment, lowering, {});
}

Error refuse(const SessionPlan& plan, Bytes ram) {
  auto why = std::make_shared<Infeasible>();
  why->needed_bytes = plan.need.total_bytes();
  why->budget_bytes = ram.value;
  const auto& tightest = plan.train.plan.tightest;
  const auto& segments = plan.train.program().segments;
  if (static_cast<size_t>(tightest.segment) < segments.size())
    why->tightest_step =
        segments[static_cast<size_t>(tightest.segment)].instructions[static_cast<size_t>(tightest.index)].label;
  for (const auto& holder : plan.train.plan.holders) why->holders.push_back({holder.name, holder.size_bytes});
  return {ErrorCode::kInfeasible,
          "the run needs " + to_string(Bytes{plan.need.total_bytes()}) + " of RAM, the budget is " + to_string(ram),
          why};
}

}  // namespace

Result<SessionPlan> plan_session(SessionSpec spec, Environment& environment, std::optional<Bytes> ram,
                                 int64_t data_bytes) {
  SessionPlan out{.spec = std::move(spec)};
  PLIMSOLL_ASSIGN(TrainingGraph training,
                  make_training_graph(out.spec.training, environment.ops(), out.spec.optimizer, out.spec.update));
  out.training_graph = std::move(training.graph);
  out.unreached = std::move(training.unreached);
  PLIMSOLL_ASSIGN(out.train, compile(out.training_graph, environment, {.microbatches = out.spec.microbatches}, {}));
  int64_t arena_bytes = out.train.plan.arena_bytes;
  if (out.spec.evaluation) {
    PLIMSOLL_ASSIGN(out.evaluate, compile_beside(*out.spec.evaluation, out.train, environment));
    arena_bytes = std::max(arena_bytes, out.evaluate->plan.arena_bytes);
  }
  if (out.spec.decoder) {
    PLIMSOLL_ASSIGN(out.generate, compile_beside(*out.spec.decoder, out.train, environment));
    arena_bytes = std::max(arena_bytes, out.generate->plan.arena_bytes);
  }
  out.need = {.arena_bytes = arena_bytes,
              .page_table_bytes = hardware::page_table_bytes(Bytes{arena_bytes}),
              .runtime_bytes = kRuntimeBytes,
              .data_bytes = data_bytes};
  if (ram && out.need.total_bytes() > ram->value) return refuse(out, *ram);
  return out;
}

}  // namespace plimsoll::engine
