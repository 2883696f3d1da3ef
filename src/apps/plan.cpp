// plimsoll plan: what a job needs, without running it.
#include <filesystem>
#include <memory>

#include "apps/commands.h"
#include "apps/messages.h"
#include "apps/plan_view.h"
#include "apps/shared_options.h"
#include "apps/zoo_step.h"
#include "engine/generation/inference_plan.h"
#include "engine/training/trainer.h"
#include "hardware/probe_memory.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string target;
  std::vector<std::string> overrides;
  std::optional<int64_t> batch;
  std::optional<int64_t> seq;
  std::optional<std::string> ram;
  std::string rates;
  std::optional<int> threads;
  std::string fusions;
  bool inference = false;
  std::optional<std::string> dump_passes;
  bool json = false;
};

/// How a plan is shown.
struct Shown {
  std::optional<engine::Rates> rates;  ///< measured where there are none
  std::string name{};                  ///< "": as the graph is called
  bool json = false;
};

/// The run file as `train` would take it, with this command's options over it.
Result<engine::RunConfig> try_load_config(const Options& o) {
  std::vector<std::string> overrides = o.overrides;
  if (o.batch) overrides.push_back("train.batch_size=" + std::to_string(*o.batch));
  if (o.seq) overrides.push_back("data.seq_len=" + std::to_string(*o.seq));
  if (!o.fusions.empty()) overrides.push_back("run.fusions=" + o.fusions);
  PLIMSOLL_RETURN_IF_ERROR(add_shortcuts(overrides, o.ram, o.threads));
  return engine::try_load_run_config(o.target, overrides);
}

/// A program that `plan` shows, with its predicted time.
void show(engine::CompiledProgram program, const engine::MemoryNeed& need, std::optional<Bytes> ram,
          engine::Environment& environment, const Shown& how) {
  set_rates(environment, how.rates, need.total_bytes());
  program.predict(environment.catalogue());
  report::PlanTable table = make_plan_table(program, need, ram);
  if (!how.name.empty()) table.name = how.name;
  print_plan(table, how.json);
}

/// Makes the training graph once more, with a file for each of its stages; all of them or, where that fails, none.
Status dump_passes(const std::string& folder, const engine::SessionSpec& spec, const ops::OpTable& ops) {
  if (folder.empty()) return invalid_argument("--dump_passes is ''; name a folder to write to");
  PLIMSOLL_ASSIGN(transform::GraphDump dump, transform::GraphDump::try_make(folder));
  const auto made = engine::make_training_graph(spec.training, ops, spec.optimizer, spec.update, &dump, spec.fusions);
  if (made.ok()) return {};
  dump.discard();
  return made.error();
}

Status show_training(const engine::SessionPlan& plan, std::optional<Bytes> ram, engine::Environment& environment,
                     const Options& o, const Shown& how) {
  if (o.dump_passes) PLIMSOLL_RETURN_IF_ERROR(dump_passes(*o.dump_passes, plan.spec, environment.ops()));
  show(plan.train, plan.need, ram, environment, how);
  print_warnings(plan, environment, how.json);
  return {};
}

Status plan_run_file(const Options& o, const Shown& how) {
  PLIMSOLL_ASSIGN(engine::RunConfig config, try_load_config(o));
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = static_cast<int>(config.run.threads),
                                                               .reference = config.run.device == "reference"}));
  if (o.inference) {
    PLIMSOLL_ASSIGN(const engine::InferencePlan forward, engine::plan_inference(config, *environment));
    show(forward.program, forward.need, config.memory.ram, *environment, how);
    return {};
  }
  PLIMSOLL_ASSIGN(const auto trainer, engine::Trainer::make(std::move(config), *environment));
  return show_training(trainer->plan(), trainer->ram(), *environment, o, how);
}

/// Without a budget this is a question about any machine: then the plan is shown even where this one is too small.
void warn_where_refused(const engine::MemoryNeed& need, std::optional<Bytes> ram, bool json) {
  const auto here = hardware::try_find_budget(ram);
  if (!here.ok() || need.total_bytes() <= here->value) return;
  print_note("this machine can give " + to_string(*here) + ", so a run here would be refused", json);
}

Status plan_zoo_model(const Options& o, std::optional<Bytes> ram, const Shown& how) {
  if (!o.overrides.empty())
    return invalid_argument("--set goes with a run file; a model by name takes --batch and --seq");
  ZooStep step{.model = o.target};
  step.batch = o.batch.value_or(step.batch);
  step.seq = o.seq;
  if (!o.fusions.empty()) step.fusions = o.fusions;
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = o.threads.value_or(0)}));
  if (o.inference) {
    PLIMSOLL_ASSIGN(const engine::InferencePlan forward, plan_zoo_inference(step, *environment, ram));
    show(forward.program, forward.need, ram, *environment, how);
    warn_where_refused(forward.need, ram, how.json);
    return {};
  }
  PLIMSOLL_ASSIGN(const engine::SessionPlan plan, plan_zoo_step(step, *environment, ram));
  PLIMSOLL_RETURN_IF_ERROR(show_training(plan, ram, *environment, o, how));
  warn_where_refused(plan.need, ram, how.json);
  return {};
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const std::optional<Bytes> ram, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const std::optional<engine::Rates> rates, try_parse_rates(o.rates));
  std::error_code unknown;  // a name that cannot be one of a file is none
  const bool is_file = o.target.ends_with(".toml") || std::filesystem::exists(o.target, unknown);
  if (is_file) return plan_run_file(o, {.rates = rates, .json = o.json});
  return plan_zoo_model(o, ram, {.rates = rates, .name = o.target, .json = o.json});
}

}  // namespace

void add_plan(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add_command("plan", "What a training step needs: memory, tightest step, predicted time");
  command
      .add_option("target", options->target,
                  "A model that `plimsoll models` lists (the step that `bench step` runs), or a run file")
      .required();
  command
      .add_option("--batch,--batch_size", options->batch, "Samples a microbatch; a model by name has 4 where left out")
      .check(whole_number(1));
  command
      .add_option(
          "--seq,--seq_len", options->seq,
          "Tokens a sample; a model by name has " + std::to_string(kDefaultSeq) + " where left out, an MLP none")
      .check(whole_number(1));
  command.add_option("--ram", options->ram, "Budget of the whole process; refused (exit code 3) where it is too small");
  command.add_option("--set", options->overrides, "Override a key of the run file (repeatable)");
  add_threads_option(command, options->threads);
  add_fusions_option(command, options->fusions);
  add_rates_option(command, options->rates);
  Option inference = command.add_flag("--inference", options->inference, "Without gradients and optimizer");
  command
      .add_option("--dump_passes,--dump-passes", options->dump_passes,
                  "Write the training graph as text into this folder, a file a stage: 00-built.txt, 01-autodiff.txt, "
                  "02-updates.txt, then one after each pass; made where there is none, refused where it holds files")
      .excludes(inference);
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n  plimsoll plan gpt2-124m --batch 4 --seq 64\n  plimsoll plan run.toml --ram 500MiB\n"
      "  plimsoll plan gpt2-124m --dump_passes passes && diff passes/05* passes/06*");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
