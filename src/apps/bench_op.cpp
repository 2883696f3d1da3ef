// plimsoll bench op: one kernel on one shape beside its bounds.
#include <algorithm>
#include <memory>

#include "apps/bench.h"
#include "apps/shared_options.h"
#include "core/printable.h"
#include "core/stopwatch.h"
#include "core/suggest.h"
#include "engine/environment/environment.h"
#include "graph/text.h"
#include "memory/arena.h"
#include "ops/evaluate.h"

namespace plimsoll::apps {
namespace {

/// Memory in which the machine's rates may be measured: beyond every cache.
constexpr int64_t kRateBytes = int64_t{64} << 20;

struct Options {
  std::string name;
  std::vector<std::string> srcs;
  std::string attributes;
  int threads = 0;
  double seconds = 1;
  bool json = false;
};

Result<const ops::OpDef*> find_op(const std::string& name, const ops::OpTable& ops) {
  if (const ops::OpDef* def = ops.find(name)) return def;
  std::vector<std::string> names;
  for (const auto& [known, def] : ops) names.push_back(known);
  return invalid_argument("there is no op " + named(name) + "; docs/ops.md lists them" + suggest(name, names));
}

/// The inputs and attributes as the graph's text form has them, so that nothing here parses them anew.
Result<program::Kernel> try_parse_call(const Options& o, const ops::OpTable& ops) {
  PLIMSOLL_ASSIGN(const ops::OpDef* def, find_op(o.name, ops));
  std::string text = "graph \"bench\"\n";
  for (size_t i = 0; i < o.srcs.size(); ++i)
    text += "%" + std::to_string(i) + " = input \"src" + std::to_string(i) + "\" : " + o.srcs[i] + "\n";
  text += "%" + std::to_string(o.srcs.size()) + " = any \"call\" forward () {" + o.attributes + "} : f32[]\n";
  auto parsed = graph::try_parse_graph(text);
  if (!parsed.ok())
    return invalid_argument(
        "--src or --attributes cannot be read; expected e.g. --src 'f32[256,768]' --attributes "
        "'transpose_b=true, eps=1e-05'");
  program::Kernel kernel{.op = o.name};
  for (const graph::Value& value : parsed->values())
    if (value.kind == graph::ValueKind::kInput) kernel.srcs.push_back(value.desc);
  PLIMSOLL_ASSIGN(kernel.attributes, ops.complete(*def, parsed->nodes()[0].attributes));
  PLIMSOLL_ASSIGN(kernel.dsts, ops.infer(*def, kernel.srcs, kernel.attributes));
  return kernel;
}

/// Operands one after another in one arena, inputs filled with small numbers that are also valid indices.
struct Operands {
  std::unique_ptr<memory::Arena> arena;
  std::vector<const void*> srcs;
  std::vector<void*> dsts;
  void* workspace = nullptr;
};

Result<Operands> try_make_operands(const program::Kernel& kernel, engine::Environment& environment) {
  std::vector<int64_t> offsets;
  int64_t total = 0;
  const auto place = [&](int64_t size_bytes) {
    offsets.push_back(total);
    total += align_up(size_bytes, 64);
  };
  for (const TensorDesc& src : kernel.srcs) place(src.size_bytes());
  for (const TensorDesc& dst : kernel.dsts) place(dst.size_bytes());
  place(kernel.workspace_bytes);
  Operands out;
  PLIMSOLL_ASSIGN(out.arena, memory::try_make_host_arena(Bytes{total}, environment.pool()));
  for (size_t i = 0; i < kernel.srcs.size(); ++i) {
    std::byte* data = out.arena->at(offsets[i]);
    const ops::Array values = ops::make_sample_array({.desc = kernel.srcs[i], .low = 0, .high = 1}, i);
    if (kernel.srcs[i].dtype == DType::kF32)
      std::transform(values.data.begin(), values.data.end(), reinterpret_cast<float*>(data),
                     [](double x) { return static_cast<float>(x); });
    out.srcs.push_back(data);
  }
  for (size_t i = 0; i < kernel.dsts.size(); ++i) out.dsts.push_back(out.arena->at(offsets[kernel.srcs.size() + i]));
  out.workspace = out.arena->at(offsets.back());
  return out;
}

Status run(const Options& o) {
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = o.threads}, o.json));
  PLIMSOLL_ASSIGN(program::Kernel call, try_parse_call(o, environment->ops()));
  PLIMSOLL_ASSIGN(const int index, environment->catalogue().prepare(call));
  const engine::Catalogue::Entry& entry = environment->catalogue().entry(index);
  PLIMSOLL_ASSIGN(const Operands operands, try_make_operands(entry.spec, *environment));
  double least = 1e9;
  int64_t launches = 0;
  const Stopwatch whole;
  while (launches < 3 || whole.seconds() < o.seconds) {
    const Stopwatch watch;
    entry.kernel->launch({.srcs = operands.srcs, .dsts = operands.dsts, .workspace = operands.workspace});
    least = std::min(least, watch.seconds());
    ++launches;
  }
  set_rates(*environment, std::nullopt, kRateBytes);
  const double rate = environment->catalogue().rates().flops_per_s;
  const double bound_s = environment->catalogue().duration_ns(index) * 1e-9;
  print_rows(o.json, {{"event", "bench_op"},
                      {"op", o.name},
                      {"threads", environment->pool().threads()},
                      {"backend", entry.refusal.empty() ? environment->backend().describe().kind : "reference"},
                      {"least_s", least},
                      {"launches", launches},
                      {"bound_s", bound_s},
                      {"share_of_bound", bound_s / least},
                      {"flops", entry.cost.flops},
                      {"bytes", entry.cost.bytes},
                      {"workspace_bytes", entry.spec.workspace_bytes},
                      {"gflops_per_s", static_cast<double>(entry.cost.flops) / least / 1e9},
                      {"share_of_matmul", static_cast<double>(entry.cost.flops) / least / rate},
                      {"bytes_per_s", static_cast<double>(entry.cost.bytes) / least}});
  return {};
}

}  // namespace

void add_bench_op(Command& bench) {
  auto options = std::make_shared<Options>();
  Command command = bench.add_command("op", "Speed of one op on one shape");
  command.add_option("name", options->name, "An op, e.g. matmul").required();
  command.add_option("--src", options->srcs, "An input as dtype[extents]; give it once for each input");
  command.add_option("--attributes", options->attributes, "name=value, …; text in quotes: approximate=\"tanh\"");
  add_threads_option(command, options->threads);
  command.add_option("--seconds", options->seconds, "How long to repeat").check(positive_number());
  add_json_option(command, options->json);
  command.footer("Example: plimsoll bench op matmul --src 'f32[256,768]' --src 'f32[768,3072]' --threads 1");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
