// plimsoll bench step: time and memory of a training step, in the fields that torch_step.py prints for PyTorch.
#include <algorithm>
#include <bit>
#include <memory>

#include "apps/bench.h"
#include "apps/plan_view.h"
#include "apps/shared_options.h"
#include "apps/zoo_step.h"
#include "core/philox.h"
#include "core/stopwatch.h"
#include "engine/session.h"
#include "hardware/probe_memory.h"
#include "hardware/process_memory.h"
#include "report/step_profile.h"
#include "runtime/guard.h"

namespace plimsoll::apps {
namespace {

/// As many as the peer has.
constexpr int64_t kWarmUpSteps = 2;

struct Options {
  ZooStep step;
  int threads = 0;
  int64_t steps = 7;
  std::optional<std::string> ram;
  std::string rates;
  bool profile = false;
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

/// What a step computes, counted as torch_step.py counts it for the peer: by formula, whatever is recomputed or
/// skipped.
struct Work {
  int64_t items = 0;    ///< tokens or samples a step
  int64_t classes = 0;  ///< ids are drawn below this
  double flops = 0;
};

/// 6 flops a parameter and token, positions left out, and 12 · layers · width · seq² a sample for attention.
double transformer_flops(const models::Model& model, std::string_view position_table, int64_t layers, int64_t width,
                         const ZooStep& step) {
  const int64_t positions = model.graph.value(model.graph.find_value(position_table)).desc.numel();
  const auto n = static_cast<double>(model.parameter_count() - positions);
  const auto batch = static_cast<double>(step.batch), seq = static_cast<double>(step.tokens());
  return 6 * n * batch * seq + 12 * static_cast<double>(layers * width) * seq * seq * batch;
}

Work count_work(const ZooStep& step, const models::ModelConfig& config, const models::Model& model) {
  Work out{.items = step.batch * step.tokens()};
  if (const auto* gpt2 = std::get_if<models::Gpt2Config>(&config)) {
    out.classes = gpt2->vocab_size;
    out.flops = transformer_flops(model, "wpe.weight", gpt2->n_layer, gpt2->n_embd, step);
  } else if (const auto* bert = std::get_if<models::BertConfig>(&config)) {
    out.classes = bert->vocab_size;
    out.flops = transformer_flops(model, "bert.embeddings.position_embeddings.weight", bert->num_hidden_layers,
                                  bert->hidden_size, step);
  } else {
    out.classes = std::get<models::MlpConfig>(config).out;
    out.items = step.batch;
    out.flops = 6.0 * static_cast<double>(model.parameter_count() * step.batch);
  }
  return out;
}

/// Room for as many whole steps as a recorder may hold, one at the least.
std::unique_ptr<report::TraceRecorder> make_recorder(const program::Program& program, int64_t steps) {
  const int64_t spans = std::max<int64_t>(report::count_spans(program), 1);
  return std::make_unique<report::TraceRecorder>(spans * std::clamp<int64_t>(report::kMostSpans / spans, 1, steps));
}

struct TimedSteps {
  std::vector<double> seconds;  ///< ascending, without those of warm-up
  double first_loss = 0;
  double last_loss = 0;
};

/// `recorder`: hears of the timed steps that it has room for whole, if there is one.
TimedSteps run_steps(engine::Runner& runner, int64_t steps, report::TraceRecorder* recorder) {
  const int64_t spans = report::count_spans(runner.compiled().program());
  TimedSteps out;
  for (int64_t step = 0; step < steps + kWarmUpSteps; ++step) {
    runner.set_scalar("step", step + 1);
    const bool is_warm = step >= kWarmUpSteps;
    const bool is_recorded = is_warm && recorder != nullptr && recorder->room() >= spans;
    if (is_recorded) recorder->set_step(step);
    const Stopwatch watch;
    runner.run(is_recorded ? recorder : nullptr);
    if (is_warm) out.seconds.push_back(watch.seconds());
    out.last_loss = static_cast<double>(runner.scalar_output("loss"));
    if (step == 0) out.first_loss = out.last_loss;
  }
  std::ranges::sort(out.seconds);
  return out;
}

void print_profile(const engine::CompiledProgram& program, engine::Environment& environment,
                   const report::TraceRecorder& recorder, bool json) {
  const report::StepProfile profile =
      report::make_profile(program.program(), recorder.spans(), make_roofline(program, environment));
  std::printf("%s", (json ? report::to_json_lines(profile) : "\n" + report::to_text(profile)).c_str());
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(const std::optional<Bytes> given, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(given));
  PLIMSOLL_ASSIGN(const std::optional<engine::Rates> rates, try_parse_rates(o.rates));
  PLIMSOLL_ASSIGN(const models::ModelConfig config, find_config(o.step));
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = o.threads}, o.json));
  PLIMSOLL_ASSIGN(auto plan, plan_zoo_step(o.step, *environment, ram));
  const engine::MemoryNeed need = plan.need;
  engine::measure_rates(*environment, Bytes{need.total_bytes()});
  const Work work = count_work(o.step, config, plan.spec.training);
  PLIMSOLL_ASSIGN(auto session, engine::Session::make(std::move(plan), *environment, 0));
  engine::Runner& runner = session->train();
  const auto inputs = make_inputs(session->plan().training_graph, work.classes, runner);
  runner.set_scalar("lr", 1e-4f);
  runner.set_scalar("inv_valid_tokens", 1.0f / static_cast<float>(work.items));
  const auto recorder = o.profile ? make_recorder(runner.compiled().program(), o.steps) : nullptr;
  const TimedSteps timed = run_steps(runner, o.steps, recorder.get());
  PLIMSOLL_ASSIGN(const auto memory, hardware::try_read_process_memory());
  // After the timed steps: poisoning would disturb them.
  const auto guard =
      runtime::run_guarded(runner.executor(), session->arena().bytes(), Space::kHost,
                           [&](runtime::InstructionId id, int64_t iteration) { return runner.feed(id, iteration); });
  if (!guard.outcome.is_finite) return corrupt("the guarded step came upon a number that is not finite");
  if (!guard.fault.empty())
    return corrupt("the guarded step found a fault, which is a bug in plimsoll: " + guard.fault);
  const engine::Rates measured = engine::measure_rates_again(*environment, session->arena().bytes());
  environment->catalogue().set_rates(rates.value_or(measured));
  engine::CompiledProgram compiled = runner.compiled();
  compiled.predict(environment->catalogue());
  const plan::Plan& planned = compiled.plan;
  const double median = timed.seconds[timed.seconds.size() / 2];
  const bool has_sequence = !std::holds_alternative<models::MlpConfig>(config);
  const FieldValue seq = has_sequence ? FieldValue(o.step.tokens()) : nullptr;
  print_rows(o.json, {{"event", "bench_step"},
                      {"model", o.step.model},
                      {"dtype", "f32"},
                      {"batch", o.step.batch},
                      {"seq", seq},
                      {"threads", environment->pool().threads()},
                      {"median_s", median},
                      {"least_s", timed.seconds.front()},
                      {"items_per_s", static_cast<double>(work.items) / median},
                      {"flops", work.flops},
                      {"matmul_gflops", measured.flops_per_s / 1e9},
                      {"share_of_matmul", work.flops / median / measured.flops_per_s},
                      {"predicted_s", planned.predicted_s},
                      {"predicted_peak_bytes", planned.arena_bytes},
                      {"executed_peak_bytes", guard.executed_peak_bytes},
                      {"needed_bytes", need.total_bytes()},
                      {"vmhwm_bytes", memory.peak_resident.value},
                      {"touch_s", session->arena().populate_seconds()},
                      {"first_loss", timed.first_loss},
                      {"last_loss", timed.last_loss},
                      {"step_lower_bound_bytes", planned.step_lower_bound},
                      {"step_height_bytes", planned.step_bytes}});
  if (recorder) print_profile(runner.compiled(), *environment, *recorder, o.json);
  return {};
}

}  // namespace

void add_bench_step(Command& bench) {
  auto options = std::make_shared<Options>();
  Command command = bench.add_command("step", "Time and memory of one training step, AdamW included");
  command.add_option("model", options->step.model, "A name that `plimsoll models` lists").required();
  command.add_option("--batch,--batch_size", options->step.batch, "Samples a step").check(whole_number(1));
  command
      .add_option("--seq,--seq_len", options->step.seq,
                  "Tokens a sample; " + std::to_string(kDefaultSeq) + " where left out")
      .check(whole_number(1));
  add_threads_option(command, options->threads);
  add_fusions_option(command, options->step.fusions);
  command.add_option("--steps", options->steps, "Timed steps, after two of warm-up").check(whole_number(1));
  add_ram_option(command, options->ram);
  add_rates_option(command, options->rates);
  command.add_flag("--profile", options->profile, "Where the time goes: by op and by layer, beside what bounds it");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n  plimsoll bench step gpt2-124m --batch 4 --seq 64 --threads 1 --json\n"
      "  plimsoll bench step gpt2-124m --profile");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
