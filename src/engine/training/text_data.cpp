#include "engine/training/text_data.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>

#include "data/byte_ngram.h"
#include "data/sentencepiece_training.h"
#include "data/text.h"
#include "data/tokens.h"
#include "engine/run_file/data_needs.h"
#include "formats/file_reader.h"
#include "formats/file_writer.h"
#include "formats/token_file.h"

namespace plimsoll::engine {
namespace {

std::optional<DType> token_dtype(const RunConfig& config) { return try_parse_dtype(config.data.token_dtype); }

/// Opens a token file, and notes in `file` what it holds.
Result<std::shared_ptr<data::TokenSource>> try_open(const std::string& path, int64_t vocab, std::optional<DType> dtype,
                                                    DataFile& file) {
  PLIMSOLL_ASSIGN(const formats::TokenFileInfo info, formats::try_inspect_token_file(path, vocab, dtype));
  PLIMSOLL_ASSIGN(data::OpenTokens open, data::try_open_tokens(info, vocab));
  file = {path, open.checksum, false};
  return std::shared_ptr<data::TokenSource>(std::move(open.tokens));
}

Result<std::unique_ptr<data::Tokenizer>> try_tokenizer(const RunConfig& config, const std::string& folder,
                                                       const data::TextPart& text, DataFile& file,
                                                       PreparationProgress progress) {
  const std::string path = tokenizer_path(config, folder);
  PLIMSOLL_ASSIGN(const bool is_trained, formats::try_exists(path));
  if (config.data.tokenizer == "sentencepiece" && !is_trained) {
    if (!progress("training the tokenizer", 0)) return cancelled("stopped while the tokenizer was trained");
    PLIMSOLL_ASSIGN(const std::string model, data::try_train_sentencepiece(text, tokenizer_training_options(config)));
    PLIMSOLL_RETURN_IF_ERROR(formats::try_write_file(path, model));
  }
  PLIMSOLL_ASSIGN(auto tokenizer, data::try_load_tokenizer(path));
  file = tokenizer_file(*tokenizer, path, config);
  return tokenizer;
}

/// Bytes done of a total as a share of the work `what`.
auto shares(PreparationProgress progress, std::string what) {
  return [progress, what = std::move(what)](int64_t done, int64_t total) {
    return progress(what, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
}

Result<std::shared_ptr<data::TokenSource>> try_tokens(const data::TextPart& text, const std::string& path,
                                                      const std::string& what, const data::Tokenizer& tokenizer,
                                                      int64_t vocab, DataFile& file, PreparationProgress progress) {
  PLIMSOLL_ASSIGN(const bool is_made, formats::try_exists(path));
  if (!is_made) {
    const auto report = shares(progress, "turning " + what + " text into tokens");
    PLIMSOLL_RETURN_IF_ERROR(data::try_tokenize(text, tokenizer, path, report));
  }
  auto tokens = try_open(path, vocab, std::nullopt, file);
  if (!tokens.ok() && is_made) {
    Error error = tokens.error();
    error.message += " (remove the file, and resuming makes it again from the text)";
    return error;
  }
  file.is_made = true;
  return tokens;
}

/// What counting bytes reaches on the validation text. Before the run, so that its table is not held beside the arena.
Result<double> try_baseline(const data::TextSplit& split, PreparationProgress progress) {
  const auto report = shares(progress, "counting bytes to compare with");
  PLIMSOLL_ASSIGN(const data::ByteNgram model, data::try_train_byte_ngram(split.train, report));
  return data::try_bits_per_byte(model, split.validation, report);
}

Result<TextData> try_prepare_from_text(const RunConfig& config, const std::string& folder, int64_t vocab,
                                       bool counts_bytes, PreparationProgress progress) {
  TextData out;
  PLIMSOLL_ASSIGN(
      data::TextSplit split,
      data::try_split_text({.paths = config.data.train,
                            .validation_paths = config.data.valid,
                            .validation_fraction = config.data.valid.empty() ? config.data.validation_fraction : 0.0,
                            .separator = config.data.separator}));
  out.train_text = split.train;
  PLIMSOLL_ASSIGN(out.tokenizer, try_tokenizer(config, folder, split.train, out.files[kTokenizer], progress));
  PLIMSOLL_ASSIGN(out.train, try_tokens(split.train, folder + "/train.bin", "training", *out.tokenizer, vocab,
                                        out.files[kTrainingTokens], progress));
  if (split.validation.empty()) return out;
  PLIMSOLL_ASSIGN(out.validation, try_tokens(split.validation, folder + "/valid.bin", "validation", *out.tokenizer,
                                             vocab, out.files[kValidationTokens], progress));
  if (counts_bytes) {
    PLIMSOLL_ASSIGN(out.baseline_bits_per_byte, try_baseline(split, progress));
  }
  return out;
}

/// Who says that ids of token files are below `vocab`, for messages about one that is not.
std::string limit_of(const RunConfig& config, const ModelChoice& model, const data::Tokenizer* tokenizer) {
  if (tokenizer != nullptr && tokenizer->vocab_size() < model.text_vocab())
    return config.at("data", "tokenizer") + " has " + std::to_string(tokenizer->vocab_size()) + " ids";
  if (!model.is_masked) return "the model '" + model.name + "' has " + std::to_string(model.vocab_size) + " ids";
  return "the model '" + model.name + "' keeps ids " + std::to_string(model.text_vocab()) + ".." +
         std::to_string(model.vocab_size - 1) + " for [CLS], [SEP] and [MASK], so tokens must be below";
}

Result<TextData> try_prepare_from_tokens(const RunConfig& config, const ModelChoice& model) {
  if (config.data.train.size() != 1 || config.data.valid.size() > 1)
    return invalid_argument("[data] kind = \"tokens\" takes one token file for train and at most one for valid");
  TextData out;
  int64_t vocab = model.text_vocab();
  if (config.data.tokenizer != "none") {
    PLIMSOLL_ASSIGN(out.tokenizer, data::try_load_tokenizer(config.data.tokenizer));
    vocab = std::min<int64_t>(vocab, out.tokenizer->vocab_size());
    out.files[kTokenizer] = tokenizer_file(*out.tokenizer, config.data.tokenizer, config);
  }
  const auto open = [&](const std::string& path, DataFile& file) -> Result<std::shared_ptr<data::TokenSource>> {
    auto tokens = try_open(path, vocab, token_dtype(config), file);
    if (tokens.ok() || tokens.error().code != ErrorCode::kCorrupt) return tokens;
    return tokens.error().with_context(limit_of(config, model, out.tokenizer.get()));
  };
  PLIMSOLL_ASSIGN(out.train, open(config.data.train[0], out.files[kTrainingTokens]));
  if (config.data.valid.empty()) {
    PLIMSOLL_ASSIGN(data::TokenSplit split, data::try_split_tokens(out.train, config.data.validation_fraction));
    out.train = std::move(split.train);
    out.validation = std::move(split.validation);
  } else {
    PLIMSOLL_ASSIGN(out.validation, open(config.data.valid[0], out.files[kValidationTokens]));
  }
  return out;
}

/// glibc keeps what is freed: 33 MiB after the training of 2,048 pieces on English, which the plan has for the arena.
void give_back_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

Result<TextData> try_prepare_text(const RunConfig& config, const std::string& folder, const ModelChoice& model,
                                  bool counts_bytes, PreparationProgress progress) {
  auto out = config.data.kind == "text"
                 ? try_prepare_from_text(config, folder, model.text_vocab(), counts_bytes, progress)
                 : try_prepare_from_tokens(config, model);
  if (out.ok() && out->validation && out->tokenizer) {
    PLIMSOLL_ASSIGN(out->validation_bytes, data::try_count_bytes(*out->validation, *out->tokenizer, 1));
  }
  give_back_freed_memory();
  return out;
}

}  // namespace plimsoll::engine
