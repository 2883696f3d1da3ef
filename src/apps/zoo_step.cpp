#include "apps/zoo_step.h"

#include <fmt/format.h>

#include "engine/remedies.h"

namespace plimsoll::apps {
namespace {

Result<models::Model> make_step_model(const ZooStep& step, const ops::OpTable& ops) {
  PLIMSOLL_ASSIGN(const models::ModelConfig config, find_config(step));
  PLIMSOLL_ASSIGN(models::Model model, models::make_model(config, step.batch, step.tokens(), ops));
  model.name = step.model;
  return model;
}

/// What a refusal may change of the step; samples of an MLP cannot be shorter.
engine::JobSize job_size(const ZooStep& step, const std::string& optimizer) {
  const auto config = find_config(step);
  const bool has_sequence = config.ok() && !std::holds_alternative<models::MlpConfig>(*config);
  return {.batch = step.batch, .seq = has_sequence ? step.tokens() : 1, .optimizer = optimizer};
}

ZooStep resized(ZooStep step, const engine::JobSize& from, const engine::JobSize& to) {
  step.batch = to.batch;
  if (to.seq != from.seq) step.seq = to.seq;
  return step;
}

/// Plans a step, and where it is refused, what --batch and --seq would give. `optimizer`: "sgd" where there is none.
template <class Planned, class PlanStep>
Result<Planned> plan_with_remedies(const ZooStep& step, std::optional<Bytes> ram, const std::string& optimizer,
                                   PlanStep plan_step) {
  Result<Planned> planned = plan_step(step, ram);
  if (planned.ok()) return planned;
  const engine::JobSize size = job_size(step, optimizer);
  const auto needed_bytes = [&](const engine::JobSize& to) -> Result<int64_t> {
    PLIMSOLL_ASSIGN(const Planned other, plan_step(resized(step, size, to), std::nullopt));
    return other.need.total_bytes();
  };
  const auto option = [&](const engine::JobSize& to) -> std::string {
    std::vector<std::string> parts;
    if (to.batch != size.batch) parts.push_back("--batch " + std::to_string(to.batch));
    if (to.seq != size.seq) parts.push_back("--seq " + std::to_string(to.seq));
    return fmt::format("{}", fmt::join(parts, " "));
  };
  return engine::with_remedies(planned.error(), {.size = size, .needed_bytes = needed_bytes, .option = option});
}

}  // namespace

Result<models::ModelConfig> find_config(const ZooStep& step) {
  PLIMSOLL_ASSIGN(models::ZooEntry entry, models::find_model(step.model));
  if (std::holds_alternative<models::MlpConfig>(entry.config) && step.seq)
    return invalid_argument("--seq is given, but '" + step.model + "' is an MLP, whose samples are no sequences");
  if (auto* bert = std::get_if<models::BertConfig>(&entry.config)) bert->has_next_sentence = false;
  return entry.config;
}

Result<engine::SessionPlan> plan_zoo_step(const ZooStep& step, engine::Environment& environment,
                                          std::optional<Bytes> ram) {
  const auto plan_step = [&](const ZooStep& other, std::optional<Bytes> budget) -> Result<engine::SessionPlan> {
    PLIMSOLL_ASSIGN(models::Model model, make_step_model(other, environment.ops()));
    engine::SessionSpec spec;
    spec.training = std::move(model);
    spec.update.checks_gradients = false;
    auto fusions = transform::try_parse_fusions(other.fusions);
    if (!fusions.ok()) return fusions.error().with_context("--fusions");
    spec.fusions = std::move(fusions).value();
    return engine::plan_session(std::move(spec), environment, budget, 0);
  };
  return plan_with_remedies<engine::SessionPlan>(step, ram, "adamw", plan_step);
}

Result<engine::InferencePlan> plan_zoo_inference(const ZooStep& step, engine::Environment& environment,
                                                 std::optional<Bytes> ram) {
  PLIMSOLL_RETURN_IF_ERROR(find_config(step));
  const auto plan_step = [&](const ZooStep& other, std::optional<Bytes> budget) -> Result<engine::InferencePlan> {
    PLIMSOLL_ASSIGN(const models::Model model,
                    models::make_model(other.model, other.batch, other.tokens(), environment.ops()));
    return engine::plan_inference(model.graph, environment, budget, 0);
  };
  return plan_with_remedies<engine::InferencePlan>(step, ram, "sgd", plan_step);
}

}  // namespace plimsoll::apps
