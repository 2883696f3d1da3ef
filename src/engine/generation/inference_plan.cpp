#include "engine/generation/inference_plan.h"

#include "engine/remedies.h"
#include "engine/run_file/resolved_run.h"
#include "hardware/probe_memory.h"

namespace plimsoll::engine {
namespace {

Result<models::Model> make_inference_model(const ModelChoice& choice, int64_t batch, int64_t seq) {
  if (choice.decoder) return choice.decoder(1, 1, choice.context);
  PLIMSOLL_ASSIGN(models::Model model, choice.evaluation(batch, seq));
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
  const JobSize size{.batch = run.config.train.batch_size, .seq = run.config.data.seq_len, .optimizer = "sgd"};
  const auto plan_size = [&](const JobSize& of, std::optional<Bytes> budget) -> Result<InferencePlan> {
    PLIMSOLL_ASSIGN(const models::Model model, make_inference_model(run.model, of.batch, of.seq));
    return plan_inference(model.graph, environment, budget, run.needs.loader_bytes);
  };
  auto plan = plan_size(size, ram);
  // One token of one text has neither batch nor sequence to make smaller.
  if (plan.ok() || run.model.decoder) return plan;
  const auto needed_bytes = [&](const JobSize& other) -> Result<int64_t> {
    PLIMSOLL_ASSIGN(const InferencePlan smaller, plan_size(other, std::nullopt));
    return smaller.need.total_bytes();
  };
  return with_remedies(plan.error(), {.size = size, .needed_bytes = needed_bytes, .option = [&](const JobSize& other) {
                                        return run_file_options(size, other);
                                      }});
}

}  // namespace plimsoll::engine
