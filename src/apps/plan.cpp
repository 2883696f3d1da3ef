// plimsoll plan: what a job needs, without running it.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "apps/plan_view.h"
#include "apps/shared_options.h"
#include "engine/matmul_rate.h"
#include "engine/trainer.h"
#include "models/zoo.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string target;
  std::vector<std::string> overrides;
  int64_t batch = 0;
  int64_t seq = 0;
  std::optional<std::string> ram;
  int threads = 0;
  bool inference = false;
  bool json = false;
};

Status plan_run_file(const Options& o, engine::Environment& environment, std::optional<Bytes> ram) {
  std::vector<std::string> overrides = o.overrides;
  if (o.batch > 0) overrides.push_back("train.batch_size=" + std::to_string(o.batch));
  if (o.seq > 0) overrides.push_back("data.seq_len=" + std::to_string(o.seq));
  PLIMSOLL_ASSIGN(engine::RunConfig config, engine::try_load_run_config(o.target, overrides));
  if (ram) config.memory.ram = ram;
  PLIMSOLL_ASSIGN(const auto trainer, engine::Trainer::make(std::move(config), environment));
  const engine::SessionPlan& plan = trainer->plan();
  if (o.inference && !plan.generate) return unsupported("the model of " + o.target + " cannot generate");
  const plan::Plan& shown = o.inference ? plan.generate->plan : plan.train.plan;
  print_plan(shown, plan.need, trainer->ram(), o.json);
  return {};
}

Status plan_zoo_model(const Options& o, engine::Environment& environment, std::optional<Bytes> ram) {
  const int64_t batch = o.batch > 0 ? o.batch : 4;
  const int64_t seq = o.seq > 0 ? o.seq : 64;
  if (!o.overrides.empty())
    return invalid_argument("--set goes with a run file; a model by name takes --batch and --seq");
  PLIMSOLL_ASSIGN(models::Model model, models::make_model(o.target, batch, seq, environment.ops()));
  if (o.inference) {
    PLIMSOLL_ASSIGN(const engine::CompiledProgram forward, engine::compile(model.graph, environment, {}, {}));
    const engine::MemoryNeed need = engine::need_of(forward.plan.arena_bytes, 0);
    PLIMSOLL_RETURN_IF_ERROR(engine::check_need(need, forward.plan, ram));
    print_plan(forward.plan, need, ram, o.json);
    return {};
  }
  PLIMSOLL_ASSIGN(const engine::SessionPlan plan,
                  engine::plan_session({.training = std::move(model)}, environment, ram, 0));
  print_plan(plan.train.plan, plan.need, ram, o.json);
  return {};
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const std::optional<Bytes> ram, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = o.threads}));
  environment->catalogue().set_rates({.flops_per_s = engine::measure_matmul_flops(*environment), .bytes_per_s = 1e10});
  const bool is_file = o.target.ends_with(".toml") || std::filesystem::exists(o.target);
  return is_file ? plan_run_file(o, *environment, ram) : plan_zoo_model(o, *environment, ram);
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plan", "What a training step needs: memory, tightest step, predicted time");
  command->add_option("target", options->target, "A model that `plimsoll models` lists, or a run file")->required();
  command->add_option("--batch,--batch_size", options->batch, "Samples a microbatch")->check(whole_number(1));
  command->add_option("--seq,--seq_len", options->seq, "Tokens a sample")->check(whole_number(1));
  command->add_option("--ram", options->ram,
                      "Budget of the whole process; refused (exit code 3) where it is too small");
  command->add_option("--set", options->overrides, "Override a key of the run file (repeatable)");
  add_threads_option(*command, options->threads);
  command->add_flag("--inference", options->inference, "Without gradients and optimizer");
  add_json_option(*command, options->json);
  command->footer("Examples:\n  plimsoll plan gpt2-124m --batch 4 --seq 64\n  plimsoll plan run.toml --ram 500MiB");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace plimsoll::apps
