#include "engine/generation/generate.h"

#include <algorithm>
#include <optional>

#include "core/stopwatch.h"

namespace plimsoll::engine {
namespace {

/// A growing text: the prompt's ids and the generated ones.
struct Text {
  std::vector<int32_t> ids;
  Generation out;
};

/// Takes texts through the rows of the decoder and its caches, all at the same position.
class Batch {
 public:
  Batch(Runner& decoder, std::span<Text> texts, int64_t context)
      : decoder_(decoder), texts_(texts), context_(context), tokens_(static_cast<size_t>(rows(decoder))) {}

  static int64_t rows(const Runner& decoder) { return logits_desc(decoder).shape[0]; }
  static int64_t classes(const Runner& decoder) { return logits_desc(decoder).shape.at(-1); }

  /// Reads the next token of every text. When the caches are full, the later half of the context is read again as a
  /// start: the cost of a token at most doubles, and the texts may go on.
  void read() {
    if (position_ == context_) {
      start_ += context_ + 1 - (context_ + 1) / 2;
      position_ = 0;
    }
    const auto at = static_cast<size_t>(start_ + position_);
    for (size_t row = 0; row < texts_.size(); ++row)  // the rows of finished texts, and those past them, do not matter
      tokens_[row] = at < texts_[row].ids.size() ? texts_[row].ids[at] : 0;
    const auto position = static_cast<int32_t>(position_);
    decoder_.set_scalar("position", position_);
    decoder_.set_feed("tokens", tokens_.data());
    decoder_.set_feed("positions", &position);
    decoder_.run();
    ++position_;
  }

  /// Whether all of a text has been read, so that the token behind it may be drawn.
  bool is_read(size_t row) const { return static_cast<int64_t>(texts_[row].ids.size()) == start_ + position_; }

  /// Of the token behind a text that is read.
  std::span<const float> logits(size_t row) const {
    const auto count = static_cast<size_t>(classes(decoder_));
    return {reinterpret_cast<const float*>(decoder_.output("logits")) + row * count, count};
  }

 private:
  static const TensorDesc& logits_desc(const Runner& decoder) {
    return decoder.compiled().lowered.outputs.at("logits");
  }

  Runner& decoder_;
  std::span<Text> texts_;
  int64_t context_;
  std::vector<int32_t> tokens_;  // one a row
  int64_t start_ = 0;            // which of a text's ids is at position 0 of the caches
  int64_t position_ = 0;         // how many follow it there
};

Result<Text> try_encode(const data::Tokenizer& tokenizer, const std::string& prompt, int64_t context) {
  Text text;
  tokenizer.encode(prompt.empty() ? "\n" : prompt, text.ids);
  text.out.prompt_tokens = static_cast<int64_t>(text.ids.size());
  if (text.out.prompt_tokens < context) return text;
  return invalid_argument("the prompt has " + std::to_string(text.out.prompt_tokens) + " tokens; the model takes " +
                          std::to_string(context) + ", so shorten it");
}

/// Draws one token for each text that is read; returns false where it is to stop.
bool draw(Batch& batch, std::span<Text> texts, size_t first, Sampler& sampler, const data::Tokenizer& tokenizer,
          int64_t tokens, OnText on_text) {
  for (size_t row = 0; row < texts.size(); ++row) {
    Text& text = texts[row];
    if (!batch.is_read(row) || text.out.tokens == tokens) continue;
    const auto logits = batch.logits(row).first(static_cast<size_t>(sampler.classes()));
    const int32_t id = sampler.draw(logits, static_cast<int64_t>(text.ids.size()));
    text.ids.push_back(id);
    if (!on_text(first + row, tokenizer.piece(id))) return false;
    text.out.text += tokenizer.piece(id);
    ++text.out.tokens;
  }
  return true;
}

}  // namespace

Result<std::vector<Generation>> generate(Runner& decoder, const data::Tokenizer& tokenizer,
                                         std::span<const std::string> prompts, int64_t tokens, int64_t context,
                                         const SamplingOptions& options, OnText on_text) {
  PLIMSOLL_RETURN_IF_ERROR(check_sampling(options));
  std::vector<Text> texts;
  for (const std::string& prompt : prompts) {
    PLIMSOLL_ASSIGN(Text text, try_encode(tokenizer, prompt, context));
    texts.push_back(std::move(text));
  }
  // The model may know more ids than the tokenizer has pieces for; those are never drawn.
  Sampler sampler(options, std::min<int64_t>(tokenizer.vocab_size(), Batch::classes(decoder)));
  const auto rows = static_cast<size_t>(Batch::rows(decoder));
  for (size_t first = 0; first < texts.size(); first += rows) {
    const std::span<Text> group = std::span(texts).subspan(first, std::min(rows, texts.size() - first));
    Batch batch(decoder, group, context);
    const auto is_done = [&](const Text& text) { return text.out.tokens >= tokens; };
    std::optional<Stopwatch> watch;
    while (!std::ranges::all_of(group, is_done)) {
      batch.read();
      for (size_t row = 0; row < group.size() && !watch; ++row)
        if (batch.is_read(row)) watch.emplace();
      if (!draw(batch, group, first, sampler, tokenizer, tokens, on_text))
        return cancelled("stopped while text was generated");
    }
    for (Text& text : group) text.out.seconds = watch ? watch->seconds() : 0;
  }
  std::vector<Generation> out;
  for (Text& text : texts) out.push_back(std::move(text.out));
  return out;
}

}  // namespace plimsoll::engine
