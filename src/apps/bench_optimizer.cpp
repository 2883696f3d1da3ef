// plimsoll bench optimizer: an update's speed beside a bare loop over the same streams, in the same run.
#include <algorithm>
#include <memory>

#include "apps/bench.h"
#include "apps/shared_options.h"
#include "core/printable.h"
#include "core/stopwatch.h"
#include "engine/environment/environment.h"
#include "memory/arena.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string name = "adamw";
  int64_t numel = 100'000'000;
  int threads = 0;
  bool json = false;
};

constexpr int64_t kTaskElements = 1 << 16;

/// The four streams of AdamW as one arena: parameter, gradient and two moments.
struct Streams {
  std::unique_ptr<memory::Arena> arena;
  int64_t numel;
  float* at(int stream) const { return reinterpret_cast<float*>(arena->data()) + stream * padded(); }
  int64_t padded() const { return align_up(numel, 16); }
};

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

void for_slices(engine::Environment& environment, int64_t numel, FunctionRef<void(int64_t begin, int64_t end)> body) {
  environment.pool().run((numel + kTaskElements - 1) / kTaskElements, [&](int64_t task, int) {
    body(task * kTaskElements, std::min(numel, (task + 1) * kTaskElements));
  });
}

/// Reads four streams and rewrites three, one add each: what any AdamW must move.
void run_bare(engine::Environment& environment, const Streams& s) {
  for_slices(environment, s.numel, [&](int64_t begin, int64_t end) {
    float *p = s.at(0), *m = s.at(2), *v = s.at(3);
    const float* g = s.at(1);
    for (int64_t i = begin; i < end; ++i) {
      p[i] += g[i];
      m[i] += g[i];
      v[i] += g[i];
    }
  });
}

void run_copy(engine::Environment& environment, const Streams& s) {
  for_slices(environment, s.numel,
             [&](int64_t begin, int64_t end) { std::copy(s.at(1) + begin, s.at(1) + end, s.at(0) + begin); });
}

Status run(const Options& o) {
  if (o.name != "adamw")
    return invalid_argument("there is no optimizer " + named(o.name) + " to measure; known is adamw");
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = o.threads}, o.json));
  const auto bytes = checked_multiply(o.numel, 16);
  if (!bytes || *bytes > (int64_t{1} << 45))
    return invalid_argument("--numel is too large: " + std::to_string(o.numel));
  Streams streams{.numel = o.numel};
  PLIMSOLL_ASSIGN(streams.arena,
                  memory::try_make_host_arena(Bytes{4 * 4 * align_up(o.numel, 16)}, environment->pool()));
  const TensorDesc vector{DType::kF32, {o.numel}, {}}, scalar{DType::kF32, {}, {}}, count{DType::kI64, {}, {}};
  PLIMSOLL_ASSIGN(const int index,
                  environment->catalogue().prepare(
                      {.op = "adamw",
                       .attributes = {{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}, {"weight_decay", 0.01}},
                       .srcs = {vector, vector, vector, vector, scalar, count, scalar},
                       .dsts = {vector, vector, vector}}));
  const float lr = 1e-3f, scale = 1;
  const int64_t step = 10;
  const void* srcs[] = {streams.at(0), streams.at(1), streams.at(2), streams.at(3), &lr, &step, &scale};
  void* dsts[] = {streams.at(0), streams.at(2), streams.at(3)};
  double update = 1e9, bare = 1e9, copy = 1e9;
  static constexpr int kRounds = 7;  // in turn, so that a neighbour's load meets all three alike
  for (int round = 0; round < kRounds; ++round) {
    update = std::min(update, seconds_of([&] {
                        environment->catalogue().entry(index).kernel->launch({.srcs = srcs, .dsts = dsts});
                      }));
    bare = std::min(bare, seconds_of([&] { run_bare(*environment, streams); }));
    copy = std::min(copy, seconds_of([&] { run_copy(*environment, streams); }));
  }
  const double moved = 28.0 * static_cast<double>(o.numel);
  print_rows(o.json, {{"event", "bench_optimizer"},
                      {"optimizer", o.name},
                      {"numel", o.numel},
                      {"threads", environment->pool().threads()},
                      {"params_per_s", static_cast<double>(o.numel) / update},
                      {"bytes_per_s", moved / update},
                      {"bare_bytes_per_s", moved / bare},
                      {"share_of_bare", bare / update},
                      {"copy_bytes_per_s", 8.0 * static_cast<double>(o.numel) / copy}});
  return {};
}

}  // namespace

void add_bench_optimizer(Command& bench) {
  auto options = std::make_shared<Options>();
  Command command = bench.add_command("optimizer", "Speed of an update beside a bare loop over its streams");
  command.add_option("name", options->name, "adamw").required();
  command.add_option("--numel", options->numel, "Parameters").check(whole_number(1));
  add_threads_option(command, options->threads);
  add_json_option(command, options->json);
  command.footer("Example: plimsoll bench optimizer adamw --numel 100000000 --threads 1");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
