#include "engine/generation/inference_plan.h"

#include "engine/training/model_choice.h"
#include "engine/training/text_data.h"
#include "hardware/probe_memory.h"

namespace plimsoll::engine {
namespace {

Result<models::Model> make_inference_model(const RunConfig& config, const ModelChoice& choice) {
  if (choice.decoder) return choice.decoder(1, 1, choice.context);
  const int64_t seq = config.data.seq_len > 0 ? config.data.seq_len : choice.context;
  PLIMSOLL_ASSIGN(models::Model model, choice.evaluation(config.train.batch_size, seq));
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
  PLIMSOLL_ASSIGN(const DataNeeds needs, try_find_data_needs(config));
  PLIMSOLL_ASSIGN(const ModelChoice choice, choose_model(config, needs.tokenizer_vocab, environment.ops()));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(config.memory.ram));
  PLIMSOLL_ASSIGN(const models::Model model, make_inference_model(config, choice));
  return plan_inference(model.graph, environment, ram, needs.loader_bytes);
}

}  // namespace plimsoll::engine
