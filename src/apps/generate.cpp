// plimsoll generate: text from a checkpoint.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "apps/commands.h"
#include "apps/fields.h"
#include "apps/messages.h"
#include "apps/shared_options.h"
#include "apps/stop_signal.h"
#include "core/printable.h"
#include "core/utf8.h"
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

/// Writes text as it comes: to a file or a pipe each byte as it is, to a terminal with what would command it escaped.
class TextOut {
 public:
  void write(std::string_view piece) {
    held_ += piece;
    // A token may end within a character, which can be judged only as a whole.
    const size_t unfinished = is_terminal_ ? utf8_unfinished(held_) : 0;
    put(std::string_view(held_).substr(0, held_.size() - unfinished));
    held_.erase(0, held_.size() - unfinished);
  }

  void finish() { put(held_ + "\n"); }

 private:
  void put(std::string_view text) const {
    const std::string shown = is_terminal_ ? printable_lines(text) : std::string(text);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    std::fflush(stdout);
  }

  bool is_terminal_ = isatty(STDOUT_FILENO) != 0;
  std::string held_;
};

Status run(const Options& o) {
  const StopSignal stop;
  PLIMSOLL_RETURN_IF_ERROR(engine::check_sampling(o.sampling));
  PLIMSOLL_ASSIGN(const std::optional<Bytes> given, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(given));
  PLIMSOLL_ASSIGN(auto environment, engine::Environment::make({.threads = o.threads}));
  PLIMSOLL_ASSIGN(auto generator, engine::Generator::make(o.folder, *environment, ram));
  if (!generator->warning().empty()) print_warning(generator->warning(), o.json);
  TextOut out;
  if (!o.json) out.write(o.prompt);
  const auto print = [&](std::string_view piece) {
    if (!o.json) out.write(piece);
    return StopSignal::received() == 0;
  };
  PLIMSOLL_ASSIGN(const engine::Generation generation, generator->generate(o.prompt, o.tokens, o.sampling, print));
  if (!o.json) {
    out.finish();
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

void add_generate(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add_command("generate", "Continue a prompt with a trained model");
  command.add_option("checkpoint", options->folder, "A run folder (its newest checkpoint) or a checkpoint's folder")
      .required();
  command.add_option("--prompt", options->prompt, "Text to continue; empty: a new line");
  command.add_option("--tokens,--max_new_tokens", options->tokens, "Tokens to generate").check(whole_number(1));
  command.add_option("--temperature", options->sampling.temperature, "0: always the most probable token")
      .check(finite_number());
  command.add_option("--top_k", options->sampling.top_k, "Only the k most probable; 0: all").check(whole_number(0));
  command.add_option("--top_p", options->sampling.top_p, "Only the most probable that together have this probability")
      .check(finite_number());
  command.add_option("--seed", options->sampling.seed, "The same seed gives the same text").check(whole_number(0));
  add_threads_option(command, options->threads);
  add_ram_option(command, options->ram);
  add_json_option(command, options->json);
  command.footer(
      "Example: plimsoll generate runs/quickstart --prompt 'The file' --tokens 100 --seed 1\n"
      "A terminal is shown control characters as \\xHH; a file or a pipe gets every byte as it is.");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
