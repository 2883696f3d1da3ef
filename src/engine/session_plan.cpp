#include "engine/session_plan.h"

#include <algorithm>

#include "hardware/anonymous_mapping.h"
#include "plan/check.h"

namespace plimsoll::engine {
namespace {

/// A program that finds its parameters where training has put them, with its own memory in the step region.
Result<CompiledProgram> compile_beside(const models::Model& model, const CompiledProgram& train,
                                       Environment& environment) {
  LowerOptions lowering{.state_offsets = train.state_offsets(), .step_base_bytes = train.plan.state_bytes};
  lowering.state_category = [](const graph::Value&) { return Category::kCache; };
  return compile(model.graph, environment, lowering, {});
}

/// Of the RAM, what nothing else needs is the arena's, for each program alone.
Status prove_budget(const SessionPlan& session, std::optional<Bytes> ram) {
  if (!ram) return {};
  plan::Budgets budgets;
  budgets.bytes[static_cast<size_t>(Space::kHost)] =
      ram->value - (session.need.total_bytes() - session.need.arena_bytes);
  for (const CompiledProgram* compiled : {&session.train, session.evaluate ? &*session.evaluate : nullptr,
                                          session.generate ? &*session.generate : nullptr}) {
    if (compiled == nullptr) continue;
    const Status proof = plan::check_budgets(compiled->program(), budgets);
    if (!proof.ok()) return refute(proof.error());
  }
  return {};
}

}  // namespace

int64_t runtime_bytes_of(int threads, int64_t instructions) {
  static constexpr int64_t kProcessBytes = int64_t{28} << 20;
  static constexpr int64_t kThreadBytes = int64_t{512} << 10;
  static constexpr int64_t kInstructionBytes = int64_t{8} << 10;
  return kProcessBytes + threads * kThreadBytes + instructions * kInstructionBytes;
}

MemoryNeed need_of(std::span<const CompiledProgram* const> programs, Environment& environment, int64_t data_bytes) {
  int64_t arena_bytes = 0, instructions = 0;
  for (const CompiledProgram* program : programs) {
    arena_bytes = std::max(arena_bytes, program->plan.arena_bytes);
    for (const program::Segment& segment : program->program().segments)
      instructions += static_cast<int64_t>(segment.instructions.size());
  }
  return {.arena_bytes = arena_bytes,
          .page_table_bytes = hardware::page_table_bytes(Bytes{arena_bytes}),
          .runtime_bytes = runtime_bytes_of(environment.pool().threads(), instructions),
          .data_bytes = data_bytes};
}

Status check_need(const MemoryNeed& need, const plan::Plan& plan, std::optional<Bytes> ram) {
  if (!ram || need.total_bytes() <= ram->value) return {};
  auto why = std::make_shared<Infeasible>();
  why->needed_bytes = need.total_bytes();
  why->budget_bytes = ram->value;
  if (need.total_bytes() > need.running_bytes()) {
    why->tightest_step = "preparation of the data";
    why->holders = {{why->tightest_step, need.preparation_bytes}, {"runtime", need.runtime_bytes}};
  } else {
    plan::describe_tightest(plan, *why);
  }
  return Error{ErrorCode::kInfeasible,
               "the run needs " + to_string(Bytes{need.total_bytes()}) + " of RAM, the budget is " + to_string(*ram),
               why};
}

Result<SessionPlan> plan_session(SessionSpec spec, Environment& environment, std::optional<Bytes> ram,
                                 int64_t data_bytes, int64_t preparation_bytes) {
  SessionPlan out{.spec = std::move(spec)};
  PLIMSOLL_ASSIGN(TrainingGraph training, make_training_graph(out.spec.training, environment.ops(), out.spec.optimizer,
                                                              out.spec.update, nullptr, out.spec.fusions));
  out.training_graph = std::move(training.graph);
  out.notes = std::move(training.notes);
  PLIMSOLL_ASSIGN(out.train, compile(out.training_graph, environment, {.microbatches = out.spec.microbatches}, {}));
  std::vector<const CompiledProgram*> programs{&out.train};
  if (out.spec.evaluation) {
    graph::Graph& forward = out.spec.evaluation->graph;
    if (!forward.find_output("loss").is_valid()) forward.add_output("loss", out.spec.evaluation->loss);
    PLIMSOLL_ASSIGN(out.evaluate, compile_beside(*out.spec.evaluation, out.train, environment));
    programs.push_back(&*out.evaluate);
  }
  if (out.spec.decoder) {
    PLIMSOLL_ASSIGN(out.generate, compile_beside(*out.spec.decoder, out.train, environment));
    programs.push_back(&*out.generate);
  }
  out.need = need_of(programs, environment, data_bytes);
  out.need.preparation_bytes = preparation_bytes;
  PLIMSOLL_RETURN_IF_ERROR(check_need(out.need, out.train.plan, ram));
  PLIMSOLL_RETURN_IF_ERROR(prove_budget(out, ram));
  return out;
}

}  // namespace plimsoll::engine
