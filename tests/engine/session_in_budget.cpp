// usage: session_in_budget MODEL THREADS [RAM_BYTES]
//
// Plans a session of a GPT-2 of so many layers ("2", "12"), runs three steps, and says on one line what it needed and
// what the kernel counted. Without RAM_BYTES it only says the need. Exits 2 where the budget is refused.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/session.h"
#include "hardware/process_memory.h"
#include "models/gpt2.h"

namespace plimsoll::engine {
namespace {

constexpr int64_t kBatch = 4;
constexpr int64_t kSeq = 64;
constexpr int kRefused = 2;

SessionSpec make_spec(const ops::OpTable& ops, int64_t layers) {
  const models::Gpt2Config config{
      .vocab_size = 101, .block_size = kSeq, .n_layer = layers, .n_head = 2, .n_embd = 64, .dropout = 0.1};
  return {.training = models::make_gpt2(config, kBatch, kSeq, ops).value()};
}

bool run_steps(Session& session) {
  const std::vector<int32_t> tokens(static_cast<size_t>(kBatch * kSeq), 7);
  Runner& runner = session.train();
  runner.set_feed("tokens", tokens.data());
  runner.set_feed("targets", tokens.data());
  runner.set_scalar("inv_valid_tokens", 1.0f / static_cast<float>(tokens.size()));
  runner.set_scalar("lr", 1e-3f);
  bool is_finite = true;
  for (int64_t step = 1; step <= 3; ++step) {
    runner.set_scalar("step", step);
    is_finite = runner.run().is_finite && is_finite;
  }
  return is_finite;
}

int run(int64_t layers, int threads, const char* ram) {
  const auto environment = Environment::make({.threads = threads}).value();
  const std::optional<Bytes> budget = ram == nullptr ? std::nullopt : std::optional(Bytes{std::atoll(ram)});
  auto plan = plan_session(make_spec(environment->ops(), layers), *environment, budget, 0);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    return plan.error().code == ErrorCode::kInfeasible ? kRefused : EXIT_FAILURE;
  }
  const MemoryNeed need = plan->need;
  if (ram == nullptr) {
    std::printf("%lld\n", static_cast<long long>(need.total_bytes()));
    return EXIT_SUCCESS;
  }
  const auto session = Session::make(*std::move(plan), *environment, 1).value();
  if (!run_steps(*session)) return EXIT_FAILURE;
  const auto memory = hardware::try_read_process_memory().value();
  std::printf("need_bytes=%lld arena_bytes=%lld kernels=%d vmhwm_bytes=%lld anonymous_bytes=%lld file_bytes=%lld\n",
              static_cast<long long>(need.total_bytes()), static_cast<long long>(need.arena_bytes),
              environment->catalogue().size(), static_cast<long long>(memory.peak_resident.value),
              static_cast<long long>(memory.anonymous.value), static_cast<long long>(memory.file.value));
  return memory.peak_resident.value <= need.total_bytes() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace plimsoll::engine

int main(int argc, char** argv) {
  if (argc < 3) return EXIT_FAILURE;
  return plimsoll::engine::run(std::atoll(argv[1]), std::atoi(argv[2]), argc > 3 ? argv[3] : nullptr);
}
