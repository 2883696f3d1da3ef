// plimsoll generate: text from a checkpoint.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "apps/messages.h"
#include "apps/shared_options.h"
#include "apps/stop_signal.h"
#include "engine/generation/generator.h"
#include "hardware/probe_memory.h"

namespace plimsoll::apps {
namespace {

struct Options {
  std::string folder;
  std::string prompt;
  int64_t tokens = 200;
  engine::SamplingOptions sampling{.temperature = 0.8, .top_k = 40};
  int threads = 0;
  std::optional<std::string> ram;
  bool json = false;
};

Status run(const Options& o) {
  const StopSignal stop;
  PLIMSOLL_RETURN_IF_ERROR(engine::check_sampling(o.sampling));
  PLIMSOLL_ASSIGN(const std::optional<Bytes> given, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(given));
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = o.threads}));
  PLIMSOLL_ASSIGN(auto generator, engine::Generator::make(o.folder, *environment, ram));
  if (!generator->warning().empty()) print_warning(generator->warning(), o.json);
  if (!o.json) std::printf("%s", o.prompt.c_str());
  const auto print = [&](std::string_view piece) {
    if (!o.json) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
    }
    return StopSignal::received() == 0;
  };
  PLIMSOLL_ASSIGN(const engine::Generation generation, generator->generate(o.prompt, o.tokens, o.sampling, print));
  if (!o.json) {
    std::printf("\n");
    return {};
  }
  print_json({{"event", "generation"},
              {"prompt", o.prompt},
              {"text", generation.text},
              {"prompt_tokens", generation.prompt_tokens},
              {"tokens", generation.tokens},
              {"tokens_per_s", static_cast<double>(generation.tokens) / generation.seconds}});
  return {};
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "Continue a prompt with a trained model");
  command->add_option("checkpoint", options->folder, "A run folder (its newest checkpoint) or a checkpoint's folder")
      ->required();
  command->add_option("--prompt", options->prompt, "Text to continue; empty: a new line");
  command->add_option("--tokens,--max_new_tokens", options->tokens, "Tokens to generate")->check(whole_number(1));
  command->add_option("--temperature", options->sampling.temperature, "0: always the most probable token")
      ->check(finite_number());
  command->add_option("--top_k", options->sampling.top_k, "Only the k most probable; 0: all")->check(whole_number(0));
  command->add_option("--top_p", options->sampling.top_p, "Only the most probable that together have this probability")
      ->check(finite_number());
  command->add_option("--seed", options->sampling.seed, "The same seed gives the same text")->check(whole_number(0));
  add_threads_option(*command, options->threads);
  add_ram_option(*command, options->ram);
  add_json_option(*command, options->json);
  command->footer("Example: plimsoll generate runs/quickstart --prompt 'The file' --tokens 100 --seed 1");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace plimsoll::apps
