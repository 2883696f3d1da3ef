#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/function_ref.h"
#include "data/tokenizer.h"
#include "engine/generation/sampler.h"
#include "engine/runner.h"

namespace plimsoll::engine {

/// One text that a prompt was continued to.
struct Generation {
  std::string text;  ///< without the prompt
  int64_t prompt_tokens = 0;
  int64_t tokens = 0;
  double seconds = 0;  ///< of the generated tokens, the prompt not counted; texts of one batch share theirs
};

/// Told each piece of text `index` as it comes; returns false to stop.
using OnText = FunctionRef<bool(size_t index, std::string_view piece)>;

/// Continues the prompts token by token with a decoder program and its planned caches: each step reads the caches that
/// the steps before it wrote, none of the prefix is computed twice.
///
/// As many texts go together as the decoder has rows, each with the tokens that it would have alone: all begin at
/// position 0, so at every step all are at the same one, some reading their prompt and some drawing. Draws are a
/// function of (seed, position, logits), whatever the row.
/// `context` is the decoder's. A text that outgrows it goes on with the later half of its context read again as the
/// start, so what lies further back is forgotten.
/// Returns: one a prompt, in their order. Errors: invalid_argument for a prompt as long as the context, or for sampling
/// settings; cancelled where it was stopped.
Result<std::vector<Generation>> generate(Runner& decoder, const data::Tokenizer& tokenizer,
                                         std::span<const std::string> prompts, int64_t tokens, int64_t context,
                                         const SamplingOptions& options, OnText on_text);

}  // namespace plimsoll::engine
