#include "engine/generation/inference_plan.h"

#include "engine/run_file/resolved_run.h"
#include "hardware/probe_memory.h"

namespace plimsoll::engine {
namespace {

Result<models::Model> make_inference_model(const ResolvedRun& run) {
  const ModelChoice& choice = run.model;
  if (choice.decoder) return choice.decoder(1, 1, choice.context);
  PLIMSOLL_ASSIGN(models::Model model, choice.evaluation(run.config.train.batch_size, run.config.data.seq_len));
  if (!model.graph.find_output("loss").is_valid()) model.graph.add_output("loss", model.loss);
  return model;
}

}  // namespace

Result<InferencePlan> plan_inference(const graph::Graph& graph, Environment& environment, std::optional<Bytes> ram,
                                     int64_t data_bytes) {
  LowerOptions lowering;
  lowering.state_category = [](const graph::Value&) { return Category::kCache; };
  InferencePlan out;
  PLIMSOLL_ASSIGN(out.program, compile(graph, environment, lowering, {}));
  const CompiledProgram* const programs[] = {&out.program};
  out.need = need_of(programs, environment, data_bytes);
  PLIMSOLL_RETURN_IF_ERROR(check_need(out.need, out.program.plan, ram));
  return out;
}

Result<InferencePlan> plan_inference(const RunConfig& config, Environment& environment) {
  PLIMSOLL_ASSIGN(const ResolvedRun run, try_resolve(config, environment.ops()));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(config.memory.ram));
  PLIMSOLL_ASSIGN(const models::Model model, make_inference_model(run));
  return plan_inference(model.graph, environment, ram, run.needs.loader_bytes);
}

}  // namespace plimsoll::engine
