#include "engine/generate.h"

#include <algorithm>
#include <chrono>

namespace plimsoll::engine {
namespace {

/// Runs the decoder for one token and returns the logits of the next.
std::span<const float> decode_one(Runner& decoder, int32_t token, int64_t position) {
  const auto at = static_cast<int32_t>(position);
  decoder.set_scalar("position", position);
  decoder.set_feed("tokens", &token);
  decoder.set_feed("positions", &at);
  decoder.run();
  const int64_t classes = decoder.compiled().lowered.outputs.at("logits").desc.shape.at(-1);
  return {reinterpret_cast<const float*>(decoder.output("logits")), static_cast<size_t>(classes)};
}

}  // namespace

Result<Generation> generate(Runner& decoder, const data::Tokenizer& tokenizer, const std::string& prompt,
                            int64_t tokens, int64_t context, const SamplingOptions& options,
                            FunctionRef<void(std::string_view piece)> on_text) {
  PLIMSOLL_RETURN_IF_ERROR(check_sampling(options));
  std::vector<int32_t> ids;
  tokenizer.encode(prompt.empty() ? "\n" : prompt, ids);
  Generation out{.prompt_tokens = static_cast<int64_t>(ids.size())};
  if (out.prompt_tokens >= context)
    return invalid_argument("the prompt has " + std::to_string(out.prompt_tokens) + " tokens; the model takes " +
                            std::to_string(context) + ", so shorten it");
  std::span<const float> logits;
  int64_t position = 0;
  for (const int32_t id : ids) logits = decode_one(decoder, id, position++);
  // The model may know more ids than the tokenizer has pieces for; those are never drawn.
  const auto classes =
      static_cast<size_t>(std::min<int64_t>(tokenizer.vocab_size(), static_cast<int64_t>(logits.size())));
  Sampler sampler(options, static_cast<int64_t>(classes));
  const auto start = std::chrono::steady_clock::now();
  while (out.tokens < tokens && position < context) {
    const int32_t id = sampler.draw(logits.first(classes), position);
    on_text(tokenizer.piece(id));
    out.text += tokenizer.piece(id);
    ++out.tokens;
    if (out.tokens < tokens) logits = decode_one(decoder, id, position);
    ++position;
  }
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace plimsoll::engine
