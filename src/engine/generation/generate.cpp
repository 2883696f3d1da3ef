#include "engine/generation/generate.h"

#include <algorithm>

#include "core/stopwatch.h"

namespace plimsoll::engine {
namespace {

/// Reads a growing text through the decoder's caches.
class Reader {
 public:
  Reader(Runner& decoder, int64_t context) : decoder_(decoder), context_(context) {}

  /// Reads what is new of `ids` and returns the logits of the token behind them. When the caches are full, the later
  /// half of the context is read again as a start: the cost of a token at most doubles, and the text may go on.
  std::span<const float> read(std::span<const int32_t> ids) {
    if (static_cast<int64_t>(ids.size()) - start_ > context_)
      start_ = read_ = static_cast<int64_t>(ids.size()) - (context_ + 1) / 2;
    std::span<const float> logits;
    for (; read_ < static_cast<int64_t>(ids.size()); ++read_)
      logits = decode_one(ids[static_cast<size_t>(read_)], read_ - start_);
    return logits;
  }

 private:
  std::span<const float> decode_one(int32_t token, int64_t position) {
    const auto at = static_cast<int32_t>(position);
    decoder_.set_scalar("position", position);
    decoder_.set_feed("tokens", &token);
    decoder_.set_feed("positions", &at);
    decoder_.run();
    const int64_t classes = decoder_.compiled().lowered.outputs.at("logits").shape.at(-1);
    return {reinterpret_cast<const float*>(decoder_.output("logits")), static_cast<size_t>(classes)};
  }

  Runner& decoder_;
  int64_t context_;
  int64_t start_ = 0;  // the id at position 0 of the caches
  int64_t read_ = 0;   // ids read
};

}  // namespace

Result<Generation> generate(Runner& decoder, const data::Tokenizer& tokenizer, const std::string& prompt,
                            int64_t tokens, int64_t context, const SamplingOptions& options,
                            FunctionRef<bool(std::string_view piece)> on_text) {
  PLIMSOLL_RETURN_IF_ERROR(check_sampling(options));
  std::vector<int32_t> ids;  // the prompt's and the generated ones
  tokenizer.encode(prompt.empty() ? "\n" : prompt, ids);
  Generation out{.prompt_tokens = static_cast<int64_t>(ids.size())};
  if (out.prompt_tokens >= context)
    return invalid_argument("the prompt has " + std::to_string(out.prompt_tokens) + " tokens; the model takes " +
                            std::to_string(context) + ", so shorten it");
  Reader reader(decoder, context);
  std::span<const float> logits = reader.read(ids);
  // The model may know more ids than the tokenizer has pieces for; those are never drawn.
  const auto classes =
      static_cast<size_t>(std::min<int64_t>(tokenizer.vocab_size(), static_cast<int64_t>(logits.size())));
  Sampler sampler(options, static_cast<int64_t>(classes));
  const Stopwatch watch;
  while (out.tokens < tokens) {
    const int32_t id = sampler.draw(logits.first(classes), static_cast<int64_t>(ids.size()));
    ids.push_back(id);
    if (!on_text(tokenizer.piece(id))) return cancelled("stopped while text was generated");
    out.text += tokenizer.piece(id);
    ++out.tokens;
    if (out.tokens < tokens) logits = reader.read(ids);
  }
  out.seconds = watch.seconds();
  return out;
}

}  // namespace plimsoll::engine
