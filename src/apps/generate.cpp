// plimsoll generate: text from a checkpoint.
#include <unistd.h>

#include <algorithm>
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
#include "formats/file_reader.h"
#include "hardware/probe_memory.h"

namespace plimsoll::apps {
namespace {

/// Texts that go together where --batch does not say: more would need much memory for their caches.
constexpr int64_t kMostBatch = 8;

struct Options {
  std::string folder;
  std::vector<std::string> prompts;
  std::optional<std::string> prompt_file;
  std::optional<int64_t> batch;
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

/// Those of the options, then the lines of the file; one empty prompt where there is none.
Result<std::vector<std::string>> try_collect_prompts(const Options& o) {
  std::vector<std::string> out = o.prompts;
  if (o.prompt_file) {
    PLIMSOLL_ASSIGN(const auto file, formats::FileReader::try_open(*o.prompt_file));
    std::string text(static_cast<size_t>(file.size_bytes()), '\0');
    PLIMSOLL_RETURN_IF_ERROR(file.try_read(0, std::as_writable_bytes(std::span(text))));
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (out.empty()) return invalid_argument("the file of prompts " + named(*o.prompt_file) + " is empty");
  }
  if (out.empty()) out.emplace_back();
  return out;
}

void print_generation(const std::string& prompt, const engine::Generation& generation) {
  print_json({{"event", "generation"},
              {"prompt", prompt},
              {"text", generation.text},
              {"prompt_tokens", generation.prompt_tokens},
              {"tokens", generation.tokens},
              {"tokens_per_s", static_cast<double>(generation.tokens) / generation.seconds}});
}

Status run(const Options& o) {
  const StopSignal stop;
  PLIMSOLL_RETURN_IF_ERROR(engine::check_sampling(o.sampling));
  PLIMSOLL_ASSIGN(const std::vector<std::string> prompts, try_collect_prompts(o));
  PLIMSOLL_ASSIGN(const std::optional<Bytes> given, try_parse_ram(o.ram));
  PLIMSOLL_ASSIGN(const Bytes ram, hardware::try_find_budget(given));
  PLIMSOLL_ASSIGN(auto environment, make_environment({.threads = o.threads}, o.json));
  const auto batch = std::min(o.batch.value_or(kMostBatch), std::ssize(prompts));
  PLIMSOLL_ASSIGN(auto generator, engine::Generator::make(o.folder, *environment, ram, batch));
  if (!generator->warning().empty()) print_warning(generator->warning(), o.json);
  // One text is shown as it comes; of several, each as a whole.
  TextOut out;
  const bool is_shown_at_once = !o.json && prompts.size() == 1;
  if (is_shown_at_once) out.write(prompts[0]);
  const auto print = [&](size_t, std::string_view piece) {
    if (is_shown_at_once) out.write(piece);
    return StopSignal::received() == 0;
  };
  PLIMSOLL_ASSIGN(const auto texts, generator->generate(prompts, o.tokens, o.sampling, print));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (o.json) print_generation(prompts[i], texts[i]);
    if (!o.json && !is_shown_at_once) out.write((i == 0 ? "" : "\n") + prompts[i] + texts[i].text + "\n");
  }
  if (is_shown_at_once) out.finish();
  return {};
}

}  // namespace

void add_generate(Command& root) {
  auto options = std::make_shared<Options>();
  Command command = root.add_command("generate", "Continue a prompt with a trained model");
  command.add_option("checkpoint", options->folder, "A run folder (its newest checkpoint) or a checkpoint's folder")
      .required();
  command.add_option("--prompt", options->prompts,
                     "Text to continue; empty: a new line. Given more than once, the texts are generated together");
  command.add_option("--prompt_file", options->prompt_file, "A file with one prompt a line");
  command
      .add_option("--batch,--batch_size", options->batch,
                  "Texts at a time, each with caches of its own; " + std::to_string(kMostBatch) + " where left out")
      .check(whole_number(1));
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
      "Examples:\n  plimsoll generate runs/quickstart --prompt 'The file' --tokens 100 --seed 1\n"
      "  plimsoll generate runs/quickstart --prompt_file prompts.txt --json\n"
      "A text is the same, however many go with it. "
      "A terminal is shown control characters as \\xHH; a file or a pipe gets every byte as it is.");
  command.action([options] { return run(*options); });
}

}  // namespace plimsoll::apps
