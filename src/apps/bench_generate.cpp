// plimsoll bench generate: tokens a second of a decoder, beside the time to read its weights once.
#include <algorithm>
#include <memory>

#include "apps/bench.h"
#include "apps/shared_options.h"
#include "core/printable.h"
#include "core/stopwatch.h"
#include "engine/generation/inference_plan.h"
#include "engine/runner.h"
#include "hardware/measure.h"
#include "hardware/probe_cores.h"
#include "hardware/probe_memory.h"
#include "memory/arena.h"
#include "models/zoo.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string model;
  int64_t batch = 1;
  int64_t context = 256;
  int64_t tokens = 32;
  int threads = 0;
  std::optional<std::string> ram;
  bool json = false;
};

/// Bytes of all parameters: what one token must read at the least.
int64_t weight_bytes(const graph::Graph& graph) {
  int64_t bytes = 0;
  for (const graph::Value& value : graph.values())
    if (value.kind == graph::ValueKind::kParameter) bytes += value.desc.size_bytes();
  return bytes;
}

Status run(const Options& o) {
  if (o.tokens >= o.context)
    return invalid_argument("--tokens is " + std::to_string(o.tokens) + "; expected less than --context, " +
                            std::to_string(o.context));
  PLIMSOLL_ASSIGN(const std::optional<Bytes> given, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(given));
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = o.threads}, o.json));
  PLIMSOLL_ASSIGN(const models::ZooEntry entry, models::find_model(o.model));
  const auto* gpt2 = std::get_if<models::Gpt2Config>(&entry.config);
  if (gpt2 == nullptr) return unsupported("the model " + named(o.model) + " cannot generate");
  PLIMSOLL_ASSIGN(const models::Model decoder,
                  models::make_gpt2_decoder(*gpt2, o.batch, 1, o.context, environment->ops()));
  PLIMSOLL_ASSIGN(const engine::InferencePlan plan, engine::plan_inference(decoder.graph, *environment, ram, 0));
  const engine::CompiledProgram& program = plan.program;
  PLIMSOLL_ASSIGN(const auto arena, memory::try_make_host_arena(Bytes{program.plan.arena_bytes}, environment->pool()));
  engine::Runner runner(program, *environment, arena->data());
  const std::vector<int32_t> ids(static_cast<size_t>(o.batch), 1);
  std::vector<double> seconds;
  for (int64_t position = 0; position < o.tokens; ++position) {
    const auto at = static_cast<int32_t>(position);
    runner.set_scalar("position", position);
    runner.set_feed("tokens", ids.data());
    runner.set_feed("positions", &at);
    const Stopwatch watch;
    runner.run();
    seconds.push_back(watch.seconds());
  }
  PLIMSOLL_ASSIGN(const auto memory, hardware::try_measure_memory(hardware::probe_cores({}, hardware::probe_affinity()),
                                                                  environment->pool()));
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  const double bandwidth = memory.bandwidths.back().read.value;
  const auto bytes = static_cast<double>(weight_bytes(decoder.graph));
  print_rows(o.json, {{"event", "bench_generate"},
                      {"model", o.model},
                      {"batch", o.batch},
                      {"threads", environment->pool().threads()},
                      {"median_s", median},
                      {"tokens_per_s", static_cast<double>(o.batch) / median},
                      {"weight_bytes", bytes},
                      {"read_bytes_per_s", bandwidth},
                      {"share_of_bound", bytes / bandwidth / median}});
  return {};
}

}  // namespace

void add_bench_generate(Command& bench) {
  auto options = std::make_shared<Options>();
  Command command = bench.add_command("generate", "Tokens a second, beside reading the weights once");
  command.add_option("model", options->model, "A model that `plimsoll models` lists and that can generate").required();
  command.add_option("--batch,--batch_size", options->batch, "Sequences at a time").check(whole_number(1));
  command.add_option("--context", options->context, "Positions that the caches hold").check(whole_number(1));
  command.add_option("--tokens", options->tokens, "Tokens to time").check(whole_number(1));
  add_threads_option(command, options->threads);
  add_ram_option(command, options->ram);
  add_json_option(command, options->json);
  command.footer("Example: plimsoll bench generate gpt2-124m --threads 2");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
