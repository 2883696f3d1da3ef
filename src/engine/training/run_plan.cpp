#include "engine/training/run_plan.h"

#include "engine/remedies.h"
#include "engine/run_file/resolved_run.h"
#include "hardware/probe_memory.h"

namespace plimsoll::engine {
namespace {

/// The run file's words as the optimizer's.
optim::OptimizerConfig to_optimizer(const RunConfig::Optimizer& o) {
  return {.name = o.name,
          .lr = o.lr,
          .beta1 = o.betas[0],
          .beta2 = o.betas[1],
          .eps = o.eps,
          .weight_decay = o.weight_decay,
          .momentum = o.momentum,
          .dampening = o.dampening,
          .nesterov = o.nesterov,
          .amsgrad = o.amsgrad};
}

/// The size that a run file asks for.
JobSize size_of(const RunConfig& config) {
  const bool trains_tokenizer = config.data.kind == "text" && config.data.tokenizer == "sentencepiece";
  return {.batch = config.train.batch_size,
          .microbatches = config.train.accumulate,
          .seq = config.data.seq_len,
          .optimizer = config.optimizer.name,
          .tokenizer = trains_tokenizer ? "sentencepiece" : ""};
}

RunConfig resized(RunConfig config, const JobSize& size) {
  config.train.batch_size = size.batch;
  config.train.accumulate = size.microbatches;
  config.data.seq_len = size.seq;
  config.optimizer.name = size.optimizer;
  if (size.tokenizer != size_of(config).tokenizer) config.data.tokenizer = size.tokenizer;
  return config;
}

Result<SessionPlan> try_plan(const ResolvedRun& run, Environment& environment, std::optional<Bytes> ram) {
  const RunConfig& config = run.config;
  SessionSpec spec;
  spec.optimizer = to_optimizer(config.optimizer);
  spec.microbatches = config.train.accumulate;
  auto fusions = transform::try_parse_fusions(config.run.fusions);
  if (!fusions.ok()) return fusions.error().with_context(config.at("run", "fusions"));
  spec.fusions = std::move(fusions).value();
  if (config.optimizer.clip_norm > 0) spec.update.clip_norm = config.optimizer.clip_norm;
  const int64_t batch = config.train.batch_size, seq = config.data.seq_len;
  PLIMSOLL_ASSIGN(spec.training, run.model.training(batch, seq));
  PLIMSOLL_ASSIGN(spec.evaluation, run.model.evaluation(batch, seq));
  if (run.model.decoder) {
    PLIMSOLL_ASSIGN(spec.decoder, run.model.decoder(1, 1, run.model.context));
  }
  const int64_t batch_bytes = batch * config.train.accumulate * seq * 4 * (run.model.is_masked ? 4 : 2);
  return plan_session(std::move(spec), environment, ram, run.needs.loader_bytes + batch_bytes,
                      run.needs.preparation_bytes);
}

}  // namespace

Result<RunPlan> plan_run(RunConfig config, Environment& environment, bool goes_on) {
  PLIMSOLL_ASSIGN(ResolvedRun run, try_resolve(config, environment.ops()));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(config.memory.ram));
  auto plan = try_plan(run, environment, ram);
  if (plan.ok()) {
    // The byte model is counted where there is room for it; no budget is refused for its sake.
    if (plan->need.runtime_bytes + run.needs.baseline_bytes <= ram.value)
      plan->need.comparison_bytes = run.needs.baseline_bytes;
    return RunPlan{std::move(run.config), std::move(run.model), ram, std::move(plan).value()};
  }
  const JobSize size = size_of(run.config);
  const auto needed_bytes = [&](const JobSize& other_size) -> Result<int64_t> {
    PLIMSOLL_ASSIGN(const ResolvedRun other, try_resolve(resized(config, other_size), environment.ops()));
    PLIMSOLL_ASSIGN(const SessionPlan other_plan, try_plan(other, environment, std::nullopt));
    return other_plan.need.total_bytes();
  };
  const auto option = [&](const JobSize& other) -> std::string {
    JobSize resumable = other;
    resumable.batch = size.batch;
    resumable.microbatches = size.microbatches;
    return goes_on && resumable != size ? "" : run_file_options(size, other);
  };
  return with_remedies(plan.error(), {.size = size, .needed_bytes = needed_bytes, .option = option});
}

}  // namespace plimsoll::engine
