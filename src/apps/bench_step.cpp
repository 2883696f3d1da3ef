// plimsoll bench step: time and memory of a training step, in the fields that torch_step.py prints for PyTorch.
#include <algorithm>
#include <chrono>
#include <fstream>

#include "apps/bench.h"
#include "apps/shared_options.h"
#include "core/philox.h"
#include "engine/matmul_rate.h"
#include "engine/session.h"
#include "hardware/process_memory.h"
#include "models/zoo.h"
#include "runtime/guard.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string model;
  int64_t batch = 4;
  int64_t seq = 64;
  int threads = 0;
  int64_t steps = 7;
  std::string ram;
  bool json = false;
};

/// Random ids below `classes` for every input of a training graph; the same in every step, as the peer has it.
std::vector<std::vector<int32_t>> make_inputs(const graph::Graph& graph, int64_t classes, engine::Runner& runner) {
  std::vector<std::vector<int32_t>> out;
  for (const graph::Value& value : graph.values()) {
    if (value.kind != graph::ValueKind::kInput) continue;
    auto& data = out.emplace_back(static_cast<size_t>(value.desc.size_bytes() / 4));
    const Philox random(out.size());
    for (size_t i = 0; i < data.size(); ++i) {
      const uint32_t word = random(i, 0)[0];
      data[i] = value.desc.dtype == DType::kI32 ? static_cast<int32_t>(word % static_cast<uint64_t>(classes))
                                                 : std::bit_cast<int32_t>(to_unit_float(word) - 0.5f);
    }
    runner.set_feed(value.name, data.data());
  }
  return out;
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = o.threads}));
  PLIMSOLL_ASSIGN(const std::optional<Bytes> ram, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(models::ZooModel zoo, models::make_zoo_model(o.model, o.batch, o.seq, environment->ops()));
  const models::StepFlops flops = zoo.flops;
  const int64_t items = zoo.items;
  const double rate = engine::measure_matmul_flops(*environment);
  environment->catalogue().set_rates({.flops_per_s = rate, .bytes_per_s = 1e10});
  PLIMSOLL_ASSIGN(auto plan, engine::plan_session({.training = std::move(zoo.model), .update = {.checks_gradients = false}},
                                                  *environment, ram, 0));
  const plan::Plan planned = plan.train.plan;
  PLIMSOLL_ASSIGN(auto session, engine::Session::make(std::move(plan), *environment, 0));
  engine::Runner& runner = session->train();
  const auto inputs = make_inputs(session->plan().training_graph, zoo.classes, runner);
  runner.set_scalar("lr", 1e-4f);
  runner.set_scalar("inv_valid_tokens", 1.0f / static_cast<float>(items));
  std::vector<double> seconds, losses;
  for (int64_t step = 0; step < o.steps + 2; ++step) {
    runner.set_scalar("step", step + 1);
    const auto start = std::chrono::steady_clock::now();
    runner.run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    losses.push_back(static_cast<double>(runner.scalar_output("loss")));
  }
  PLIMSOLL_ASSIGN(const auto memory, hardware::try_read_process_memory());
  // After the timed steps: poisoning would disturb them. Two steps are warm-up, as for the peer.
  const auto guard = runtime::run_guarded(
      runner.executor(), session->arena().bytes(), Space::kHost,
      [&](runtime::InstructionId id, int64_t iteration) { return runner.feed(id, iteration); });
  std::sort(seconds.begin() + 2, seconds.end());
  const double median = seconds[2 + (seconds.size() - 2) / 2];
  return print_rows(o.json, {{"model", o.model},
                             {"dtype", "f32"},
                             {"batch", o.batch},
                             {"seq", o.seq},
                             {"threads", environment->pool().threads()},
                             {"median_s", median},
                             {"least_s", seconds[2]},
                             {"items_per_s", static_cast<double>(items) / median},
                             {"flops", flops},
                             {"matmul_gflops", rate / 1e9},
                             {"share_of_matmul", flops / median / rate},
                             {"predicted_s", planned.predicted_s},
                             {"predicted_peak_bytes", planned.arena_bytes},
                             {"executed_peak_bytes", guard.executed_peak_bytes},
                             {"vmhwm_bytes", memory.peak_resident.value},
                             {"touch_s", session->arena().populate_seconds()},
                             {"first_loss", losses.front()},
                             {"last_loss", losses.back()},
                             {"step_lower_bound_bytes", planned.step_lower_bound},
                             {"step_height_bytes", planned.step_bytes}});
}

}  // namespace

void add_bench_step(CLI::App& bench, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("step", "Time and memory of one training step, AdamW included");
  command->add_option("model", options->model, "A name that `plimsoll models` lists")->required();
  command->add_option("--batch,--batch_size", options->batch, "Samples a step")->check(CLI::PositiveNumber);
  command->add_option("--seq,--seq_len", options->seq, "Tokens a sample")->check(CLI::PositiveNumber);
  command->add_option("--threads", options->threads, "0: all that the process may use");
  command->add_option("--steps", options->steps, "Timed steps, after two of warm-up")->check(CLI::PositiveNumber);
  command->add_option("--ram", options->ram, "Budget of the whole process, e.g. 2GiB");
  command->add_flag("--json", options->json, "One JSON object on a line");
  command->footer("Example: plimsoll bench step gpt2-124m --batch 4 --seq 64 --threads 1 --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace plimsoll::apps
