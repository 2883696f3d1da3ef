#pragma once

#include <string>

#include "core/function_ref.h"
#include "data/tokenizer.h"
#include "engine/generation/sampler.h"
#include "engine/runner.h"

namespace plimsoll::engine {

struct Generation {
  std::string text;  ///< without the prompt
  int64_t prompt_tokens = 0;
  int64_t tokens = 0;
  double seconds = 0;  ///< of the generated tokens, the prompt not counted
};

/// Continues `prompt` token by token with a decoder program and its planned caches: each step reads the caches that the
/// steps before it wrote, none of the prefix is computed twice.
///
/// `context` is the decoder's. A text that outgrows it goes on with the later half of its context read again as the
/// start, so what lies further back is forgotten. `on_text` is told each piece as it comes and returns false to stop.
/// Errors: invalid_argument for a prompt as long as the context, or for sampling settings; cancelled where it was
/// stopped.
Result<Generation> generate(Runner& decoder, const data::Tokenizer& tokenizer, const std::string& prompt,
                            int64_t tokens, int64_t context, const SamplingOptions& options,
                            FunctionRef<bool(std::string_view piece)> on_text);

}  // namespace plimsoll::engine
